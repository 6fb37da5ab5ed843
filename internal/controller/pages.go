package controller

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/tabard-dev/tabard/awsauth/kube/follow"
)

// Each hands each object of a namespace to a function, read page by page: how many objects a
// namespace holds, and how long they are, others decide. Objects are of the kind that the list
// is of, which stays as it is. An empty namespace means all.
func Each(ctx context.Context, reader client.Reader, list client.ObjectList, namespace string, each func(runtime.Object) error) error {
	pages := follow.Pages{List: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
		page, is := list.DeepCopyObject().(client.ObjectList)
		if !is {
			return nil, fmt.Errorf("%T is no list", list)
		}
		return page, reader.List(ctx, page, &client.ListOptions{Namespace: namespace, Limit: o.Limit, Continue: o.Continue})
	}}
	_, err := pages.Each(ctx, each)
	return err
}
