// A driver for kafka-conformance: the hash of a key, and its partition. .NET without packages.
using System.Buffers.Binary;
using System.Text.Json.Nodes;

var hello = new JsonObject
{
    ["protocol"] = 1, ["name"] = "example", ["version"] = "1", ["language"] = "csharp",
    ["rules"] = new JsonArray("murmur2", "partition-for-key"),
};
var output = new StreamWriter(Console.OpenStandardOutput()) { AutoFlush = true, NewLine = "\n" };

while (Console.In.ReadLine() is { } line)
{
    var asked = JsonNode.Parse(line)!;
    var reply = asked["hello"] is null
        ? new JsonObject { ["id"] = asked["id"]!.DeepClone(), ["answer"] = Answer((string)asked["rule"]!, asked["question"]!) }
        : new JsonObject { ["hello"] = hello.DeepClone() };
    output.WriteLine(reply.ToJsonString());
}

static JsonObject Answer(string rule, JsonNode question)
{
    if (question["key"] is null) return new JsonObject { ["raises"] = "NullPointerException" };
    var hash = Murmur2(Convert.FromHexString((string)question["key"]!));
    if (rule == "murmur2") return new JsonObject { ["hash"] = hash };
    var partitions = (int)question["partitions"]!;
    if (partitions == 0) return new JsonObject { ["raises"] = "ArithmeticException" };
    return new JsonObject { ["partition"] = (hash & 0x7fffffff) % partitions };
}

static int Murmur2(ReadOnlySpan<byte> key)
{
    const uint m = 0x5bd1e995;
    unchecked
    {
        var h = 0x9747b28cu ^ (uint)key.Length;
        for (; key.Length >= 4; key = key[4..])
        {
            var k = BinaryPrimitives.ReadUInt32LittleEndian(key) * m;
            h = h * m ^ (k ^ k >> 24) * m;
        }
        uint tail = 0;
        for (var i = key.Length - 1; i >= 0; i--) tail = tail << 8 | key[i];
        if (key.Length > 0) h = (h ^ tail) * m;
        h = (h ^ h >> 13) * m;
        return (int)(h ^ h >> 15);
    }
}
