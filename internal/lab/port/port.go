// Package port finds TCP ports of 127.0.0.1 for servers that are yet to start.
package port

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"math/big"
	"net"
	"strconv"
)

const loopback = "127.0.0.1"

// Range are the ports from which Claim takes a block.
type Range struct{ First, Last int }

// The ranges are below the one that systems use for outgoing connections
// (Linux: 32768 and up, net.ipv4.ip_local_port_range). A port from there could be
// taken by any connection before its server listens, or while it is restarted.
var (
	// Tests is for servers that one test starts.
	Tests = Range{First: 10000, Last: 19999}
	// Labs is for labs, which keep their ports for as long as they live.
	Labs = Range{First: 20000, Last: 31999}
)

// tries bounds the search: with half of all blocks taken, the chance to miss
// is 2^-200.
const tries = 200

// Claim returns the first of size consecutive ports on which nothing listens, and
// keeps the block from every other caller of Claim on this machine until claim is
// closed. By then the servers should listen: a block is free when none of its ports
// is listened on.
//
// The claim is a UDP socket with the number of the block's first port. A TCP
// server does not mind it, and it ends with its process.
func (r Range) Claim(ctx context.Context, size int) (first int, claim io.Closer, err error) {
	blocks := (r.Last - r.First + 1) / size
	for range tries {
		block, err := rand.Int(rand.Reader, big.NewInt(int64(blocks)))
		if err != nil {
			return 0, nil, fmt.Errorf("no random numbers: %w", err)
		}
		first = r.First + int(block.Int64())*size
		if claim, err = new(net.ListenConfig).ListenPacket(ctx, "udp", address(first)); err != nil {
			continue
		}
		if free(first, size) {
			return first, claim, nil
		}
		_ = claim.Close()
	}
	return 0, nil, fmt.Errorf("no %d free ports in a row between %d and %d on %s in %d tries; end what listens there", size, r.First, r.Last, loopback, tries)
}

// free says whether nothing listens on any port of a block.
func free(first, size int) bool {
	for port := first; port < first+size; port++ {
		listener, err := net.Listen("tcp", address(port))
		if err != nil || listener.Close() != nil {
			return false
		}
	}
	return true
}

func address(port int) string { return net.JoinHostPort(loopback, strconv.Itoa(port)) }
