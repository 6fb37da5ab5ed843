package controller

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"slices"
	"strconv"

	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// apiServerName is the name that every API server's certificate holds, so that
// an address can be verified whatever it is.
const apiServerName = "kubernetes.default.svc"

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
