package lab

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"io"

	"github.com/tabard-dev/tabard/internal/lab/node"
	"github.com/tabard-dev/tabard/internal/lab/port"
)

// portsOfALab is the size of the block in which a lab's ports are: those of Ports,
// and one to spare. As a block is given only when nothing listens in it, a lab's
// ports are its own also while one of its processes is down.
const portsOfALab = 8

// plan decides what a new lab is, with a block of ports from first on.
func plan(dir string, first int, random [4]byte) Lab {
	lab := Lab{
		APIVersion: apiVersion, Kind: kind, Dir: dir,
		Bucket: "tabard-lab-" + hex.EncodeToString(random[:]) + "-oidc",
	}
	ports := &lab.Ports
	for i, port := range []*int{&ports.APIServer, &ports.Etcd, &ports.EtcdPeer, &ports.ControllerManager, &ports.AWS, &ports.Webhook, &ports.Scheduler} {
		*port = first + i
	}
	return lab
}

// newLab plans a lab on this machine, now, with a node if it is to have one. No
// other lab gets its ports while claim is open.
func newLab(ctx context.Context, dir string, withNode bool) (lab Lab, claim io.Closer, err error) {
	var random [4]byte
	binary.NativeEndian.PutUint32(random[:], randomNumber())
	first, claim, err := port.Labs.Claim(ctx, portsOfALab)
	if err != nil {
		return Lab{}, nil, err
	}
	lab = plan(dir, first, random)
	if withNode {
		lab.Node, err = planNode(random)
	}
	if err != nil {
		return Lab{}, nil, errors.Join(err, claim.Close())
	}
	return lab, claim, nil
}

// planNode decides what a new lab's node is on this machine.
func planNode(random [4]byte) (*node.Node, error) {
	taken, err := node.Taken()
	if err != nil {
		return nil, err
	}
	idle, err := node.Idle()
	if err != nil {
		return nil, err
	}
	planned, err := node.Plan(random, randomNumber, taken)
	planned.Controllers = idle
	return &planned, err
}

func randomNumber() uint32 {
	var number [4]byte
	_, _ = rand.Read(number[:]) // it never fails: a system without random numbers ends the process
	return binary.NativeEndian.Uint32(number[:])
}
