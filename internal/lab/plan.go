package lab

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"math/big"
	"net"
	"strconv"

	"github.com/tabard-dev/tabard/internal/lab/node"
)

// Ports are taken from below the range that systems use for outgoing
// connections (Linux: 32768 and up, net.ipv4.ip_local_port_range). A port from
// there could be taken by any connection while its process is restarted.
const (
	firstPort = 20000
	lastPort  = 31999
)

// plan decides what a new lab is. candidate yields ports to try, free says
// whether one can be listened on.
func plan(dir string, candidate func() int, free func(int) bool, random [4]byte) (Lab, error) {
	lab := Lab{
		APIVersion: apiVersion, Kind: kind, Dir: dir,
		Bucket: "tabard-lab-" + hex.EncodeToString(random[:]) + "-oidc",
	}
	taken := map[int]bool{}
	const tries = 1000
	ports := &lab.Ports
	for _, port := range []*int{&ports.APIServer, &ports.Etcd, &ports.EtcdPeer, &ports.ControllerManager, &ports.AWS, &ports.Webhook, &ports.Scheduler} {
		for range tries {
			if try := candidate(); !taken[try] && free(try) {
				*port, taken[try] = try, true
				break
			}
		}
		if *port == 0 {
			return Lab{}, fmt.Errorf("no free port between %d and %d on %s in %d tries; end what listens there", firstPort, lastPort, Loopback, tries)
		}
	}
	return lab, nil
}

// newLab plans a lab on this machine, now, with a node if it is to have one.
func newLab(dir string, withNode bool) (Lab, error) {
	var (
		random [4]byte
		failed error
	)
	if _, err := rand.Read(random[:]); err != nil {
		return Lab{}, fmt.Errorf("no random numbers: %w", err)
	}
	candidate := func() int {
		offset, err := rand.Int(rand.Reader, big.NewInt(lastPort-firstPort+1))
		if err != nil {
			failed = err
			return firstPort
		}
		return firstPort + int(offset.Int64())
	}
	lab, err := plan(dir, candidate, isFree, random)
	if err := errors.Join(err, failed); err != nil || !withNode {
		return lab, err
	}
	taken, err := node.Taken()
	if err != nil {
		return Lab{}, err
	}
	idle, err := node.Idle()
	if err != nil {
		return Lab{}, err
	}
	planned, err := node.Plan(random, func() uint32 { return uint32(candidate()) }, taken)
	planned.Controllers = idle
	lab.Node = &planned
	return lab, errors.Join(err, failed)
}

func isFree(port int) bool {
	listener, err := net.Listen("tcp", net.JoinHostPort(Loopback, strconv.Itoa(port)))
	if err != nil {
		return false
	}
	return listener.Close() == nil
}
