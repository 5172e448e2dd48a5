# claim: An exception whose every method fails or never ends is still reported.
# status: error
# timeout: 20s
# twin: inside
# twin_status: error


class Monster(BaseException):
    def __str__(self):
        raise Monster

    __repr__ = __str__
    __class__ = property(__str__)


import sys

raise Monster if sys.argv[1] == "hostile" else ValueError
