package bed

import (
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"runtime"
	"time"

	"github.com/google/go-containerregistry/pkg/registry"
	"golang.org/x/sys/unix"

	"github.com/tabard-dev/tabard/internal/lab"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// Registry starts a registry of images and returns its name, with a path. It is at the same port
// of 127.0.0.1 on this machine and on the node, whose network is its own.
func (b *Bed) Registry() string {
	b.t.Helper()
	here := must.Get(new(net.ListenConfig).Listen(b.t.Context(), "tcp", "127.0.0.1:0"))(b.t)
	there := must.Get(b.listenOnNode(here.Addr().String()))(b.t)
	server := &http.Server{Handler: registry.New(registry.Logger(log.New(io.Discard, "", 0))), ReadHeaderTimeout: time.Minute}
	for _, listener := range []net.Listener{here, there} {
		go func() {
			if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
				b.t.Errorf("the registry: %v", err)
			}
		}()
	}
	b.t.Cleanup(func() { _ = server.Close() })
	return here.Addr().String() + "/team"
}

// listenOnNode listens at an address of the node's network.
func (b *Bed) listenOnNode(address string) (listener net.Listener, err error) {
	running, err := lab.Load(b.Dir)
	if err != nil {
		return nil, err
	}
	holder, _, err := running.Processes().Get(lab.Holder)
	if err != nil {
		return nil, err
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // and never unlocked: the thread, which is in the node's network, ends with this
		var network *os.File
		if network, err = os.Open(fmt.Sprintf("/proc/%d/ns/net", holder.PID)); err != nil {
			return
		}
		defer network.Close() //nolint:errcheck // it is only read
		if err = unix.Setns(int(network.Fd()), unix.CLONE_NEWNET); err == nil {
			listener, err = new(net.ListenConfig).Listen(b.t.Context(), "tcp", address)
		}
	}()
	<-done
	return listener, err
}
