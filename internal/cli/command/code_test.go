package command

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"syscall"
	"testing"

	"github.com/aws/smithy-go"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/tabard-dev/tabard/internal/cli/usage"
)

// full is an output to which nothing more can be written.
type full struct{}

func (full) Write([]byte) (int, error) {
	return 0, &fs.PathError{Op: "write", Path: "/dev/full", Err: syscall.ENOSPC}
}

func TestTheCodeOfAnError(t *testing.T) {
	of := schema.GroupResource{Resource: "pods"}
	for name, c := range map[string]struct {
		err  error
		want int
	}{
		"none":                              {nil, usage.Fine},
		"one that says nothing of itself":   {errors.New("no"), 77},
		"one that a command has said":       {fmt.Errorf("so: %w", &Exit{Code: 7}), 7},
		"a wrong use":                       {fmt.Errorf("so: %w", usage.Wrong(errors.New("no"))), usage.Unusable},
		"interrupted":                       {fmt.Errorf("so: %w", context.Canceled), usage.Interrupted},
		"interrupted, whatever it was":      {usage.Wrong(&url.Error{Op: "Get", Err: context.Canceled}), usage.Interrupted},
		"time is over":                      {context.DeadlineExceeded, usage.Refused},
		"forbidden":                         {apierrors.NewForbidden(of, "a", nil), usage.Refused},
		"forbidden, whatever was typed":     {usage.Wrong(apierrors.NewForbidden(of, "a", nil)), usage.Refused},
		"nobody":                            {apierrors.NewUnauthorized("who?"), usage.Refused},
		"changed meanwhile":                 {apierrors.NewConflict(of, "a", nil), usage.Refused},
		"an error of the API server":        {apierrors.NewInternalError(errors.New("no")), usage.Refused},
		"too many requests":                 {apierrors.NewTooManyRequests("later", 1), usage.Refused},
		"not found, which the command says": {apierrors.NewNotFound(of, "a"), 77},
		"not found, and the name was typed": {usage.Wrong(apierrors.NewNotFound(of, "a")), usage.Unusable},
		"AWS refuses":                       {fmt.Errorf("so: %w", &smithy.GenericAPIError{Code: "AccessDenied"}), usage.Refused},
		"no cluster at the address":         {&Unreachable{err: &net.OpError{Op: "dial", Err: errors.New("refused")}}, usage.Refused},
		"no server for a request":           {&url.Error{Op: http.MethodGet, Err: errors.New("no certificate")}, usage.Refused},
		"no room for the output":            {Write(full{}, "text"), usage.Refused},
		"a URL that is none":                {usage.Wrong(&url.Error{Op: "parse", Err: errors.New("no")}), usage.Unusable},
	} {
		t.Run(name, func(t *testing.T) {
			if got := CodeOf(c.err, 77); got != c.want {
				t.Errorf("%v has the code %d, want %d", c.err, got, c.want)
			}
		})
	}
}
