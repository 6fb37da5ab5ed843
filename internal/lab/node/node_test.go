package node

import (
	"errors"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tabard-dev/tabard/internal/testkit/must"
)

func TestPlan(t *testing.T) {
	count := func() func() uint32 { next := uint32(0); return func() uint32 { next++; return next - 1 } }
	prefixes := func(texts ...string) (out []netip.Prefix) {
		for _, text := range texts {
			out = append(out, netip.MustParsePrefix(text))
		}
		return out
	}
	for name, test := range map[string]struct {
		taken   []netip.Prefix
		host    string
		pods    string
		refused string
	}{
		"the first network is free":                {host: "10.128.0.1", pods: "10.128.1.0/24"},
		"one that is taken is passed over":         {taken: prefixes("10.128.0.0/24"), host: "10.128.2.1", pods: "10.128.3.0/24"},
		"so is one of which a part is":             {taken: prefixes("10.128.1.128/25", "10.128.2.7/32"), host: "10.128.4.1", pods: "10.128.5.0/24"},
		"a default route takes nothing":            {taken: prefixes("0.0.0.0/0"), host: "10.128.0.1", pods: "10.128.1.0/24"},
		"who has routes to all of it, has no room": {taken: prefixes("10.0.0.0/8"), refused: "no network of 10.128.0.0/9 is free"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Plan([4]byte{1, 2, 3, 0xff}, count(), test.taken)
			if test.refused != "" {
				if err == nil || !strings.Contains(err.Error(), test.refused) {
					t.Fatalf("got %v, want %q", err, test.refused)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got.Host.String() != test.host || got.Address != got.Host.Next() || got.Pods.String() != test.pods {
				t.Errorf("got %s, %s, %s; want %s and %s", got.Host, got.Address, got.Pods, test.host, test.pods)
			}
			if got.Link != "tabard-010203ff" || got.Cgroup != "tabard-lab-010203ff" {
				t.Errorf("names %s, %s", got.Link, got.Cgroup)
			}
			const longest = 15 // IFNAMSIZ of Linux, less the end
			if len(got.Link) > longest {
				t.Errorf("%s is too long for a link's name", got.Link)
			}
		})
	}
}

func FuzzPlan(f *testing.F) {
	f.Add(uint32(0), uint8(24))
	f.Add(uint32(0x0aff_fe00), uint8(23))
	f.Fuzz(func(t *testing.T, number uint32, bits uint8) {
		address := netip.AddrFrom4([4]byte{byte(number >> 24), byte(number >> 16), byte(number >> 8), byte(number)})
		taken := must.Get(address.Prefix(int(bits%32) + 1))(t)
		candidate := func() uint32 { number = number*1664525 + 1013904223; return number >> 8 }
		got, err := Plan([4]byte{}, candidate, []netip.Prefix{taken})
		if err != nil {
			if !taken.Contains(netip.MustParseAddr("10.255.255.255")) && !taken.Contains(netip.MustParseAddr("10.128.0.0")) {
				t.Errorf("%s leaves no room: %v", taken, err)
			}
			return
		}
		whole := netip.MustParsePrefix("10.128.0.0/9")
		for _, inside := range []netip.Addr{got.Host, got.Address, got.Pods.Addr()} {
			if !whole.Contains(inside) || taken.Contains(inside) {
				t.Errorf("%s is taken (%s) or not of %s", inside, taken, whole)
			}
		}
		if got.Pods.Contains(got.Host) || got.Pods.Contains(got.Address) || got.Pods.Overlaps(taken) {
			t.Errorf("pods have %s, the cable %s", got.Pods, got.Host)
		}
	})
}

func TestCheckSaysEverythingThatIsMissing(t *testing.T) {
	has := func(names ...string) func(string) (string, error) {
		return func(name string) (string, error) {
			if slices.Contains(names, name) {
				return "/bin/" + name, nil
			}
			return "", errors.New("not found")
		}
	}
	all := has("containerd", "containerd-shim-runc-v2", "ctr", "runc", "nft")
	everywhere := func(string) bool { return true }
	for name, test := range map[string]struct {
		machine Machine
		dir     string
		want    []string
	}{
		"a machine that has everything": {machine: Machine{"linux", 0, all, everywhere}, dir: "/srv/lab"},
		"another system":                {machine: Machine{"darwin", 0, all, everywhere}, dir: "/srv/lab", want: []string{"Linux only", "this is darwin"}},
		"everything at once": {
			machine: Machine{"linux", 1000, has("runc"), func(string) bool { return false }}, dir: "/var/lib/lab",
			want: []string{"root (this is user 1000)", "the program containerd", "the program nft", "the CNI plugins bridge, host-local, loopback",
				"another folder than /var/lib/lab", "apt-get install containerd"},
		},
		"a folder with a similar name is fine": {machine: Machine{"linux", 0, all, everywhere}, dir: "/runs/lab"},
		"plugins of which one is missing": {
			machine: Machine{"linux", 0, all, func(path string) bool { return path != "/usr/lib/cni/bridge" && !strings.HasPrefix(path, "/opt") }},
			dir:     "/srv/lab", want: []string{"the CNI plugins"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			err := Check(test.machine, test.dir)
			if (err != nil) != (len(test.want) > 0) {
				t.Fatalf("got %v, want %q", err, test.want)
			}
			for _, want := range test.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%v\nlacks %q", err, want)
				}
			}
		})
	}
}

func TestPluginsAreLookedForInBothFolders(t *testing.T) {
	got, err := pluginFolder(func(path string) bool { return strings.HasPrefix(path, "/opt/cni/bin/") })
	if diff := cmp.Diff("/opt/cni/bin", got); err != nil || diff != "" {
		t.Errorf("%v %s", err, diff)
	}
}
