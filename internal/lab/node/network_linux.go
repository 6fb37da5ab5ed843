package node

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netns"
	"golang.org/x/sys/unix"
)

// uplink is the node's end of the cable.
const uplink = "uplink"

// Taken are the networks that this machine has addresses in or routes to.
func Taken() ([]netip.Prefix, error) {
	routes, err := netlink.RouteList(nil, netlink.FAMILY_V4)
	if err != nil {
		return nil, fmt.Errorf("read this machine's routes: %w", err)
	}
	addresses, err := netlink.AddrList(nil, netlink.FAMILY_V4)
	if err != nil {
		return nil, fmt.Errorf("read this machine's addresses: %w", err)
	}
	var out []netip.Prefix
	for _, route := range routes {
		out = appendPrefix(out, route.Dst)
	}
	for _, address := range addresses {
		out = appendPrefix(out, address.IPNet)
	}
	return out, nil
}

// appendPrefix adds a network; nil is that of the default route and is no more
// taken than all of the world.
func appendPrefix(to []netip.Prefix, network *net.IPNet) []netip.Prefix {
	if network == nil {
		return to
	}
	address, ok := netip.AddrFromSlice(network.IP)
	bits, _ := network.Mask.Size()
	if !ok || bits == 0 {
		return to
	}
	return append(to, netip.PrefixFrom(address.Unmap(), bits))
}

// Connect lays the cable between this machine and the node whose namespaces a
// process holds. All of it goes when that namespace goes.
func (node Node) Connect(holder int) error {
	if err := node.lay(holder); err != nil {
		return fmt.Errorf("connect the node: %w", err)
	}
	if err := node.connectHere(); err != nil {
		return fmt.Errorf("connect this machine to the node: %w", err)
	}
	if err := node.connectThere(holder); err != nil {
		return fmt.Errorf("connect the node to this machine: %w", err)
	}
	return nil
}

// lay makes the cable, in place of one to a node that has gone.
func (node Node) lay(holder int) error {
	if old, err := netlink.LinkByName(node.Link); err == nil {
		// It goes with the old node's namespace too, some time after the last process.
		if err := netlink.LinkDel(old); err != nil && !errors.Is(err, unix.ENODEV) {
			return err
		}
	}
	return netlink.LinkAdd(&netlink.Veth{
		LinkAttrs: netlink.LinkAttrs{Name: node.Link}, PeerName: uplink, PeerNamespace: netlink.NsPid(holder),
	})
}

func (node Node) connectHere() error {
	link, err := netlink.LinkByName(node.Link)
	if err != nil {
		return err
	}
	if err := netlink.AddrAdd(link, address(node.Host)); err != nil {
		return err
	}
	if err := netlink.LinkSetUp(link); err != nil {
		return err
	}
	return netlink.RouteAdd(&netlink.Route{LinkIndex: link.Attrs().Index, Dst: network(node.Pods), Gw: node.Address.AsSlice()})
}

func (node Node) connectThere(holder int) error {
	there, err := networkWithin(holder)
	if err != nil {
		return err
	}
	defer there.Close()
	loopback, err := there.LinkByName("lo")
	if err != nil {
		return err
	}
	link, err := there.LinkByName(uplink)
	if err != nil {
		return err
	}
	if err := there.AddrAdd(link, address(node.Address)); err != nil {
		return err
	}
	for _, each := range []netlink.Link{loopback, link} {
		if err := there.LinkSetUp(each); err != nil {
			return err
		}
	}
	return there.RouteAdd(&netlink.Route{LinkIndex: link.Attrs().Index, Gw: node.Host.AsSlice()})
}

// networkWithin asks and changes the network namespace of a process, until it is closed.
func networkWithin(pid int) (*netlink.Handle, error) {
	namespace, err := netns.GetFromPid(pid)
	if err != nil {
		return nil, err
	}
	defer func() { _ = namespace.Close() }()
	// All of the kernel's other protocols would be opened too; not every kernel has them.
	return netlink.NewHandleAt(namespace, unix.NETLINK_ROUTE)
}

// address is one on the cable.
func address(at netip.Addr) *netlink.Addr {
	return &netlink.Addr{IPNet: &net.IPNet{IP: at.AsSlice(), Mask: net.CIDRMask(cableBits, 32)}}
}

func network(of netip.Prefix) *net.IPNet {
	return &net.IPNet{IP: of.Addr().AsSlice(), Mask: net.CIDRMask(of.Bits(), 32)}
}

// Connected says whether the cable is laid to the node whose namespaces a process
// holds. One to a node that has gone may be there for a while.
func (node Node) Connected(holder int) bool {
	there, err := networkWithin(holder)
	if err != nil {
		return false
	}
	defer there.Close()
	link, err := there.LinkByName(uplink)
	if err != nil {
		return false
	}
	// The route is what Connect makes last, and goes with the machine's end.
	routes, err := there.RouteList(link, netlink.FAMILY_V4)
	return err == nil && slices.ContainsFunc(routes, func(route netlink.Route) bool { return route.Gw.Equal(node.Host.AsSlice()) })
}
