# In, Out, _i and %history kept in memory alone: no thread, no database, no file, and no more than a stated number of entries.
# Zygote (made empty there) and worker.

import collections
import logging

from IPython.core.history import HistoryManager

ENTRIES_MAX = 1000  # cells that In, Out, _i3 and _3 reach back
INPUT_BYTES_MAX = 8 << 20  # source text in In


class GuestHistory(HistoryManager):
    """IPython's history manager, cut down to its lists."""

    # Plain attributes where IPython has traits.
    input_hist_parsed = input_hist_raw = output_hist = None

    def __init__(self, shell):
        self.input_hist_parsed, self.input_hist_raw, self.output_hist = [""], [""], {}
        super().__init__(shell=shell, parent=None, enabled=False, hist_file=":memory:")
        self._own_shell = shell  # not by the trait: it is read for each cell
        self.log.setLevel(logging.CRITICAL)
        self._kept = collections.deque()  # (line number, characters) of the entries in In that still have text
        self._characters = 0
        self._recent = "", "", ""  # newest last: what _iii, _ii, _i become with the next cell

    def new_session(self, conn=None):
        pass

    def end_session(self):
        pass

    def writeout_cache(self, conn=None):
        pass

    def name_session(self, name):
        pass

    def store_output(self, line_num):
        pass

    def get_tail(self, n=10, raw=True, output=False, include_latest=False):
        """The last n cells of this session; there are no others."""
        end = len(self.input_hist_raw) - (0 if include_latest else 1)
        return list(self.get_range(0, max(1, end - (n or 10)), end, raw=raw, output=output))

    def search(self, pattern="*", raw=True, search_raw=True, output=False, n=None, unique=False):
        """Cells of this session that match a glob pattern (%history -g)."""
        import fnmatch

        found = [
            entry
            for entry in self.get_range(0, 1, None, raw=raw, output=output)
            if fnmatch.fnmatchcase(entry[2][0] if output else entry[2], pattern)
        ]
        return found[-n:] if n else found

    def get_session_info(self, session=0):
        raise ValueError("only this session's history is kept")

    def reset(self, new_session=True):
        self.output_hist.clear()
        self.output_hist_reprs.clear()
        self.outputs.clear()
        self.exceptions.clear()
        if new_session:
            self.input_hist_parsed[:] = [""]
            self.input_hist_raw[:] = [""]
            self._kept.clear()
            self._characters = 0
            self._recent = "", "", ""

    def store_inputs(self, line_num, source, source_raw=None):
        """Appends one cell to In and moves _i, _ii, _iii along; forgets the oldest beyond the limits."""
        parsed = source.rstrip("\n")
        raw = parsed if source_raw is None else source_raw.rstrip("\n")
        parsed_list, raw_list = self.input_hist_parsed, self.input_hist_raw
        while len(parsed_list) < line_num:  # In[n] is cell n of this session, also if some were never stored
            parsed_list.append("")
            raw_list.append("")
        parsed_list.append(parsed)
        raw_list.append(raw)
        before, last, latest = self._recent
        names = {"_i": latest, "_ii": last, "_iii": before, f"_i{line_num}": raw}
        self._recent = last, latest, raw
        shell = self._own_shell
        shell._user_ns.update(names)
        shell.user_ns_hidden.update(names)
        self._kept.append((line_num, len(raw)))
        self._characters += len(raw)
        if len(self._kept) > ENTRIES_MAX or self._characters > INPUT_BYTES_MAX:
            self._forget_oldest()

    def _forget_oldest(self):
        shell = self._own_shell
        while len(self._kept) > 1 and (len(self._kept) > ENTRIES_MAX or self._characters > INPUT_BYTES_MAX):
            number, size = self._kept.popleft()
            self._characters -= size
            if number < len(self.input_hist_parsed):
                self.input_hist_parsed[number] = self.input_hist_raw[number] = ""
            name = f"_i{number}"
            shell._user_ns.pop(name, None)
            shell.user_ns_hidden.pop(name, None)
