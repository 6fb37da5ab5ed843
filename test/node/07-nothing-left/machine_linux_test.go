package nothingleft

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// settings are what a kubelet or kube-proxy sets of a machine, as patterns below
// /proc/sys.
var settings = []string{
	"vm/overcommit_memory", "vm/panic_on_oom", "kernel/panic", "kernel/panic_on_oops", "kernel/keys/root_max*",
	"net/ipv4/ip_forward", "net/ipv4/conf/all/*", "net/ipv4/conf/default/*", "net/ipv4/vs/*", "net/ipv6/conf/all/*", "net/bridge/*", "net/netfilter/nf_conntrack_*",
}

// folders are where runtimes, kubelets and CNI plugins keep state.
var folders = []string{
	"/run/containerd", "/run/netns", "/run/runc", "/run/xtables.lock", "/run/flannel", "/var/run/kubernetes",
	"/var/lib/cni", "/var/lib/kubelet", "/var/lib/containerd", "/var/log/pods", "/var/log/containers", "/etc/cni", "/opt/cni",
}

// programs are whose files in /tmp are looked at: others put theirs there all the
// time, and what is told to use the lab's own folder of that kind does.
var programs = []string{"containerd", "ctd", "runc", "kube", "cni", "pod", "tabard", "nft", "etcd", "apiserver"}

// machine takes snapshots of this machine.
type machine struct {
	t *testing.T
	// settings are the files that were there at first. A module of the kernel that a
	// lab needs stays loaded and has settings of its own.
	settings []string
}

func newMachine(t *testing.T) machine {
	t.Helper()
	m := machine{t: t}
	for _, pattern := range settings {
		found := must.Get(filepath.Glob(filepath.Join("/proc/sys", pattern)))(t)
		m.settings = append(m.settings, found...)
	}
	// It counts connections.
	m.settings = slices.DeleteFunc(m.settings, func(path string) bool { return strings.HasSuffix(path, "/nf_conntrack_count") })
	return m
}

// take looks at everything but processes.
func (m machine) take() snapshot {
	m.t.Helper()
	all := snapshot{"mounts": m.mounts(), "control groups": controlGroups(), "settings": m.values(), "files": files(), "temporary files": temporary()}
	for aspect, command := range map[string][]string{
		"nftables": {"nft", "list", "ruleset"}, "iptables": {"iptables-save"}, "ip6tables": {"ip6tables-save"},
	} {
		all[aspect] = m.listing(command...)
	}
	all["links"], all["addresses"], all["routes"] = m.network()
	return all
}

// listing is what a program lists; nothing where there is no such program.
func (m machine) listing(command ...string) []string {
	m.t.Helper()
	if _, err := exec.LookPath(command[0]); err != nil {
		return nil
	}
	text, err := exec.CommandContext(m.t.Context(), command[0], command[1:]...).Output()
	if err != nil {
		m.t.Fatalf("%s: %v", command[0], err)
	}
	return slices.Collect(strings.Lines(volatile.ReplaceAllString(string(text), "")))
}

func (m machine) mounts() []string {
	m.t.Helper()
	text := must.Get(os.ReadFile("/proc/self/mountinfo"))(m.t)
	return slices.Collect(strings.Lines(string(text)))
}

func (m machine) values() (out []string) {
	for _, path := range m.settings {
		value, err := os.ReadFile(path)
		if err != nil {
			value = []byte(err.Error()) // some can only be written
		}
		out = append(out, path+"="+string(bytes.TrimSpace(value)))
	}
	return out
}

// below lists what is in a folder, down to a depth; nothing if it is not there.
func below(folder string, depth int, want func(fs.DirEntry) bool) (out []string) {
	// What goes while it is read is not there: others are at work.
	_ = filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) || entry == nil {
			return nil
		}
		if want(entry) {
			out = append(out, path)
		} else if entry.IsDir() {
			return fs.SkipDir
		}
		if entry.IsDir() && strings.Count(strings.TrimPrefix(path, folder), "/") >= depth {
			return fs.SkipDir
		}
		return nil
	})
	return out
}

// controlGroups are all but systemd's, which come and go with what people do.
func controlGroups() []string {
	const whole = 20
	return below("/sys/fs/cgroup", whole, func(entry fs.DirEntry) bool {
		return entry.IsDir() && !slices.Contains([]string{".slice", ".scope", ".service", ".mount", ".socket"}, filepath.Ext(entry.Name()))
	})
}

func files() (out []string) {
	const depth = 3
	for _, folder := range folders {
		out = append(out, below(folder, depth, func(fs.DirEntry) bool { return true })...)
	}
	return out
}

func temporary() []string {
	return below("/tmp", 1, func(entry fs.DirEntry) bool {
		return entry.Name() == "tmp" || slices.ContainsFunc(programs, func(name string) bool { return strings.HasPrefix(entry.Name(), name) })
	})
}

// network lists links, addresses and routes.
func (m machine) network() (links, addresses, routes []string) {
	m.t.Helper()
	names := map[int]string{}
	all := must.Get(netlink.LinkList())(m.t)
	for _, link := range all {
		names[link.Attrs().Index] = link.Attrs().Name
		links = append(links, link.Type()+" "+link.Attrs().Name+" "+(link.Attrs().Flags&net.FlagUp).String())
	}
	given := must.Get(netlink.AddrList(nil, netlink.FAMILY_ALL))(m.t)
	for _, address := range given {
		addresses = append(addresses, address.IPNet.String()+" on "+names[address.LinkIndex])
	}
	known := must.Get(netlink.RouteListFiltered(netlink.FAMILY_ALL, &netlink.Route{Table: unix.RT_TABLE_UNSPEC}, netlink.RT_FILTER_TABLE))(m.t)
	for _, route := range known {
		routes = append(routes, fmt.Sprintf("%v by %v on %s, table %d", route.Dst, route.Gw, names[route.LinkIndex], route.Table))
	}
	return links, addresses, routes
}
