package capacity_test

import (
	"testing"

	"github.com/tabard-dev/tabard/internal/core/capacity"
)

func BenchmarkMergeLabels(b *testing.B) {
	for name, text := range map[string]string{
		"ours alone": "kubernetes.io/arch=amd64",
		"with four of others": "kubernetes.io/arch=amd64,node-role.kubernetes.io/worker=,shop.example.com/pool=batch," +
			"topology.ebs.csi.aws.com/zone=us-west-2a,topology.kubernetes.io/zone=us-west-2a",
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if got := capacity.MergeLabels(text, "amd64"); got != text {
					b.Fatalf("got %q, want %q", got, text)
				}
			}
		})
	}
}
