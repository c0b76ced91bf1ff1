// Cases a to c of `polypath bench sim` in ns-3: TCP bulk flows over a link or a dumbbell.
//
// Usage: bulk CASE, with CASE a, b or c. Prints one line of JSON: delivered data segments, the
// CPU seconds of the run (set-up excluded), peak memory and goodput.
#include <ns3/applications-module.h>
#include <ns3/core-module.h>
#include <ns3/internet-module.h>
#include <ns3/network-module.h>
#include <ns3/point-to-point-module.h>
#include <ns3/traffic-control-module.h>

#include <sys/resource.h>

#include <cstdio>
#include <map>
#include <string>

using namespace ns3;

namespace
{

constexpr uint32_t SEGMENT = 1448;

struct Case
{
    uint32_t flows;
    std::string rate;
    std::string delay; // of the bottleneck, one way
    uint32_t queue;    // packets
    double seconds;
};

const std::map<std::string, Case> CASES = {
    {"a", {1, "100Mbps", "20ms", 100, 60.0}},
    {"b", {10, "1Gbps", "18ms", 1000, 20.0}},
    {"c", {100, "1Gbps", "18ms", 1000, 20.0}},
};

NetDeviceContainer
Join(Ptr<Node> a, Ptr<Node> b, std::string rate, std::string delay, uint32_t queue)
{
    PointToPointHelper link;
    link.SetDeviceAttribute("DataRate", StringValue(rate));
    link.SetChannelAttribute("Delay", StringValue(delay));
    link.SetQueue("ns3::DropTailQueue<Packet>",
                  "MaxSize",
                  StringValue(std::to_string(queue) + "p"));
    return link.Install(a, b);
}

// Addresses, and no queue discipline above the device: the device's drop-tail queue is the only one.
Ipv4InterfaceContainer
Number(const NetDeviceContainer& devices)
{
    static uint32_t network = 0;
    Ipv4AddressHelper address;
    address.SetBase(Ipv4Address((10U << 24) + (network++ << 2)), "255.255.255.252");
    Ipv4InterfaceContainer interfaces = address.Assign(devices);
    TrafficControlHelper().Uninstall(devices);
    return interfaces;
}

double
CpuSeconds()
{
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_utime.tv_sec + usage.ru_stime.tv_sec +
           (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-6;
}

} // namespace

int
main(int argc, char* argv[])
{
    auto found = CASES.find(argc > 1 ? argv[1] : "");
    if (found == CASES.end())
    {
        std::fprintf(stderr, "usage: bulk a|b|c\n");
        return 2;
    }
    const Case& run = found->second;
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", StringValue("ns3::TcpCubic"));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(SEGMENT));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(16 << 20));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(16 << 20));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(10));

    NodeContainer left, right, routers;
    left.Create(run.flows);
    right.Create(run.flows);
    routers.Create(2);
    InternetStackHelper stack;
    stack.Install(left);
    stack.Install(right);
    std::vector<Ipv4Address> servers;
    if (run.flows == 1)
    {
        servers.push_back(Number(Join(left.Get(0), right.Get(0), run.rate, run.delay, run.queue))
                              .GetAddress(1));
    }
    else
    {
        stack.Install(routers);
        Number(Join(routers.Get(0), routers.Get(1), run.rate, run.delay, run.queue));
        for (uint32_t i = 0; i < run.flows; ++i)
        {
            Number(Join(left.Get(i), routers.Get(0), "10Gbps", "1ms", 10000));
            servers.push_back(
                Number(Join(routers.Get(1), right.Get(i), "10Gbps", "1ms", 10000)).GetAddress(1));
        }
        Ipv4GlobalRoutingHelper::PopulateRoutingTables();
    }
    ApplicationContainer sinks;
    for (uint32_t i = 0; i < run.flows; ++i)
    {
        PacketSinkHelper sink("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), 9));
        sinks.Add(sink.Install(right.Get(i)));
        BulkSendHelper bulk("ns3::TcpSocketFactory", InetSocketAddress(servers[i], 9));
        bulk.SetAttribute("MaxBytes", UintegerValue(0));
        bulk.SetAttribute("SendSize", UintegerValue(SEGMENT));
        bulk.Install(left.Get(i)).Start(Seconds(1.0 * i / run.flows));
    }
    Simulator::Stop(Seconds(run.seconds));
    const double before = CpuSeconds();
    Simulator::Run();
    const double cpu = CpuSeconds() - before;
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < sinks.GetN(); ++i)
    {
        bytes += DynamicCast<PacketSink>(sinks.Get(i))->GetTotalRx();
    }
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    std::printf("{\"case\":\"%s\",\"segments\":%llu,\"cpu_s\":%.3f,\"segments_per_cpu_s\":%.0f,"
                "\"peak_mb\":%.1f,\"goodput_mbit_s\":%.1f}\n",
                argv[1],
                static_cast<unsigned long long>(bytes / SEGMENT),
                cpu,
                bytes / SEGMENT / cpu,
                usage.ru_maxrss * 1.024e-3,
                bytes * 8e-6 / run.seconds);
    Simulator::Destroy();
    return 0;
}
