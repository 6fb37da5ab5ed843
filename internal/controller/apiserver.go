package controller

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"slices"
	"strconv"
	"time"

	"golang.org/x/sync/errgroup"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// apiServerName is the name that every API server's certificate holds, so that
// an address can be verified whatever it is.
const apiServerName = "kubernetes.default.svc"

const (
	// serversAtOnce is how many API servers are asked at the same time.
	serversAtOnce = 8
	// serverTimeout bounds what one API server is asked, allServersTimeout what all
	// of them are, however many addresses there are.
	serverTimeout     = 5 * time.Second
	allServersTimeout = 15 * time.Second
)

// APIServer is one API server of a cluster.
type APIServer struct {
	// Address is HOST:PORT, or the client's own where no addresses are known.
	Address string
	// Config reaches that one, past any load balancer.
	Config *rest.Config
}

// APIServers lists the API servers of the cluster that config reaches: the
// addresses of the Service default/kubernetes, in order. Where it has none, as
// an EndpointSlice may not hold the loopback address that an API server of one
// machine advertises, it is the client's own. It needs the right to list the
// EndpointSlices of the namespace default.
func APIServers(ctx context.Context, reader client.Reader, config *rest.Config) ([]APIServer, error) {
	addresses, err := apiServerAddresses(ctx, reader)
	if err != nil {
		return nil, err
	}
	if len(addresses) == 0 {
		return []APIServer{{Address: config.Host, Config: config}}, nil
	}
	servers := make([]APIServer, 0, len(addresses))
	for _, address := range addresses {
		own := rest.CopyConfig(config)
		own.Host = "https://" + address
		own.ServerName = apiServerName
		servers = append(servers, APIServer{Address: address, Config: own})
	}
	return servers, nil
}

// EachAPIServer asks API servers, several at once, and returns when all have
// answered or their time is over: one that does not answer keeps nobody waiting
// for longer than itself may take. Those whose turn does not come in time are asked
// with a context that is over.
func EachAPIServer(ctx context.Context, servers []APIServer, ask func(ctx context.Context, index int, server APIServer)) {
	ctx, cancel := context.WithTimeout(ctx, allServersTimeout)
	defer cancel()
	var group errgroup.Group
	group.SetLimit(serversAtOnce)
	for index, server := range servers {
		group.Go(func() error {
			ctx, cancel := context.WithTimeout(ctx, serverTimeout)
			defer cancel()
			ask(ctx, index, server)
			return nil
		})
	}
	_ = group.Wait() // none returns an error
}

func apiServerAddresses(ctx context.Context, reader client.Reader) ([]string, error) {
	var list discoveryv1.EndpointSliceList
	err := reader.List(ctx, &list, client.InNamespace("default"),
		client.MatchingLabels{discoveryv1.LabelServiceName: "kubernetes"})
	if err != nil {
		return nil, fmt.Errorf("list the EndpointSlices of the Service default/kubernetes: %w", err)
	}
	var out []string
	for _, slice := range list.Items {
		for _, port := range slice.Ports {
			for _, endpoint := range slice.Endpoints {
				for _, address := range endpoint.Addresses {
					out = append(out, net.JoinHostPort(address, strconv.Itoa(int(*cmp.Or(port.Port, new(int32(443)))))))
				}
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}
