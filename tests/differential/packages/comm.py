import comm
from comm.base_comm import BaseComm, CommManager

sent = []


class Recording(BaseComm):
    def publish_msg(self, msg_type, data=None, metadata=None, buffers=None, **keys):
        sent.append((msg_type, data, keys.get("target_name")))


manager = CommManager()
manager.register_target("table", lambda channel, message: sent.append(("opened", message["content"]["data"], None)))
channel = Recording(target_name="table", comm_id="c1", data={"rows": 3}, primary=True)
manager.register_comm(channel)
channel.on_msg(lambda message: sent.append(("received", message["content"]["data"], None)))
manager.comm_msg(None, None, {"content": {"comm_id": "c1", "data": {"sort": "county"}}})
channel.send({"rows": 5})
channel.close({"done": True})
print(*sent, sep="\n")
print(comm.create_comm.__module__, isinstance(comm.get_comm_manager(), CommManager))
len(sent)
