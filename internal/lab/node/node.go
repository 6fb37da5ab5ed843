// Package node makes the node of a lab: namespaces of the system that hold a
// container runtime, a kubelet and what pods need of a network. All of it is in
// one mount namespace, one network namespace and one control group of the lab's
// own, so that the machine's own containers, rules and mounts are not touched and
// nothing is left of it when its processes have ended.
package node

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"net/netip"
)

// Node is what is decided once of a lab's node.
type Node struct {
	// Name is that of the Node object.
	Name string `json:"name"`
	// Cgroup is the control group of all that runs on the node, below the root of
	// each hierarchy.
	Cgroup string `json:"cgroup"`
	// Controllers are those of control groups that are off on this machine, and on as
	// long as there is the node.
	Controllers []string `json:"controllers,omitempty"`
	// Link is the machine's end of the cable to the node.
	Link string `json:"link"`
	// Host is the machine's address on that cable, Address the node's.
	Host    netip.Addr `json:"host"`
	Address netip.Addr `json:"address"`
	// Pods is the network of the pods.
	Pods netip.Prefix `json:"pods"`
}

const (
	// cableBits is the length of the cable's network: two hosts.
	cableBits = 30
	// Nodes take their networks from 10.128.0.0/9, each a /23: the cable from the
	// first half, the pods the second.
	networkBits = 23
)

// networks is how many networks there are to choose from.
const networks = 1 << (networkBits - 9)

// Plan decides what a new node is. The identity makes its names its own;
// candidate yields numbers, of which the first is used whose network overlaps none
// that is taken.
func Plan(identity [4]byte, candidate func() uint32, taken []netip.Prefix) (Node, error) {
	const tries = 1000
	for range tries {
		network := networkOf(candidate() % networks)
		if overlapsAny(network, taken) {
			continue
		}
		id := hex.EncodeToString(identity[:])
		host := network.Addr().Next()
		return Node{
			Name: "lab-node", Cgroup: "tabard-lab-" + id, Link: "tabard-" + id,
			Host: host, Address: host.Next(), Pods: podsOf(network),
		}, nil
	}
	return Node{}, fmt.Errorf("no network of 10.128.0.0/9 is free for the node in %d tries: this machine has addresses or routes in all of it", tries)
}

func networkOf(number uint32) netip.Prefix {
	var address [4]byte
	binary.BigEndian.PutUint32(address[:], 10<<24|1<<23|number<<(32-networkBits))
	return netip.PrefixFrom(netip.AddrFrom4(address), networkBits)
}

// podsOf is the second half of a node's network.
func podsOf(network netip.Prefix) netip.Prefix {
	address := network.Addr().As4()
	address[2]++
	return netip.PrefixFrom(netip.AddrFrom4(address), networkBits+1)
}

func overlapsAny(network netip.Prefix, taken []netip.Prefix) bool {
	for _, other := range taken {
		if other.Bits() > 0 && network.Overlaps(other) {
			return true
		}
	}
	return false
}

// ServiceAddress is the address of the Service "kubernetes" in every lab.
const ServiceAddress = "10.96.0.1"
