//go:build !linux

package node

import (
	"context"
	"errors"
	"net/netip"
)

var errLinuxOnly = errors.New("a lab with a node runs on Linux only")

// Init is for Linux.
func Init(Node, string, []string) error { return errLinuxOnly }

// Enter is for Linux.
func Enter(Node, int, []string) error { return errLinuxOnly }

// Taken is for Linux.
func Taken() ([]netip.Prefix, error) { return nil, errLinuxOnly }

// Idle is for Linux.
func Idle() ([]string, error) { return nil, errLinuxOnly }

// Connect is for Linux.
func (Node) Connect(int) error { return errLinuxOnly }

// Connected is for Linux.
func (Node) Connected(int) bool { return false }

// Remove is for Linux.
func (Node) Remove(context.Context) error { return errLinuxOnly }

// Evict is for Linux.
func (Node) Evict(context.Context, int) error { return errLinuxOnly }
