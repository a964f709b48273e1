"""MCAP files as others write them: ROS 2 messages, JSON, Protobuf."""

import json

from google.protobuf.descriptor_pb2 import FieldDescriptorProto, FileDescriptorProto
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message_factory import GetMessageClass
from mcap.writer import Writer as PlainWriter
from mcap_protobuf.writer import Writer as ProtobufWriter
from mcap_ros2.writer import Writer as Ros2Writer

from dockdyn.results.exchange.ros_messages import definition_of

BEGAN = 1_700_000_000_250_000_000  # ns since 1970
FLOAT = "float64 data"


def ros2_file(path, topics, chunk: int = 1024 * 1024):
    """Messages of topics: `{"/command": ("std_msgs/Float64", stamps in ns, messages)}`."""
    with path.open("wb") as file, Ros2Writer(file, chunk_size=chunk) as writer:
        for topic, (name, stamps, messages) in topics.items():
            text = FLOAT if name == "std_msgs/Float64" else definition_of(name)
            schema = writer.register_msgdef(name.replace("/", "/msg/"), text)
            for stamp, message in zip(stamps, messages, strict=True):
                writer.write_message(topic, schema, message, int(stamp))
    return path


def json_file(path, topics):
    """The same of JSON without a schema."""
    with path.open("wb") as file:
        writer = PlainWriter(file)
        writer.start()
        for topic, (stamps, messages) in topics.items():
            channel = writer.register_channel(topic, "json", 0)
            for stamp, message in zip(stamps, messages, strict=True):
                writer.add_message(channel, int(stamp), json.dumps(message).encode(), int(stamp))
        writer.finish()
    return path


def protobuf_file(path, topic, stamps, rows, names):
    """The same of a Protobuf message with a field of each name."""
    described = FileDescriptorProto(name="sample.proto", package="rig", syntax="proto3")
    message = described.message_type.add(name="Sample")
    for number, name in enumerate(names, start=1):
        message.field.add(
            name=name, number=number, type=FieldDescriptorProto.TYPE_DOUBLE, label=FieldDescriptorProto.LABEL_OPTIONAL
        )
    pool = DescriptorPool()
    pool.Add(described)
    sample = GetMessageClass(pool.FindMessageTypeByName("rig.Sample"))
    with path.open("wb") as file, ProtobufWriter(file) as writer:
        for stamp, row in zip(stamps, rows, strict=True):
            writer.write_message(topic, sample(**dict(zip(names, row, strict=True))), int(stamp))
    return path
