package workload

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"

	corev1 "k8s.io/api/core/v1"

	"github.com/tabard-dev/tabard/internal/lab/volume"
)

// collector gathers the content of a pod's volumes.
type collector struct {
	pod     *corev1.Pod
	objects Objects
	tokens  *tokens
}

// payload returns a volume's content. The second result is false for an
// emptyDir, which is the container's to fill.
func (collector collector) payload(ctx context.Context, source corev1.Volume) (volume.Payload, bool, error) {
	content := volume.Payload{}
	var err error
	switch {
	case source.EmptyDir != nil:
		return nil, false, nil
	case source.ConfigMap != nil:
		from := source.ConfigMap
		err = collector.addConfigMap(ctx, content, from.Name, from.Items, modeOf(from.DefaultMode), from.Optional)
	case source.Secret != nil:
		from := source.Secret
		err = collector.addSecret(ctx, content, from.SecretName, from.Items, modeOf(from.DefaultMode), from.Optional)
	case source.DownwardAPI != nil:
		err = collector.addFields(content, source.DownwardAPI.Items, modeOf(source.DownwardAPI.DefaultMode))
	case source.Projected != nil:
		err = collector.addProjected(ctx, content, source.Projected)
	default:
		err = errors.New("its kind is not supported here; projected, configMap, secret, downwardAPI and emptyDir are")
	}
	if err != nil {
		return nil, false, fmt.Errorf("the volume %s: %w", source.Name, err)
	}
	collector.openToGroup(content)
	return content, true, nil
}

func (collector collector) addProjected(ctx context.Context, content volume.Payload, projected *corev1.ProjectedVolumeSource) error {
	mode := modeOf(projected.DefaultMode)
	for _, source := range projected.Sources {
		var err error
		switch {
		case source.ServiceAccountToken != nil:
			from := source.ServiceAccountToken
			var token string
			token, err = collector.tokens.get(ctx, from.Audience, from.ExpirationSeconds)
			content[from.Path] = volume.File{Data: []byte(token), Mode: tokenMode(collector.pod, mode)}
		case source.ConfigMap != nil:
			from := source.ConfigMap
			err = collector.addConfigMap(ctx, content, from.Name, from.Items, mode, from.Optional)
		case source.Secret != nil:
			from := source.Secret
			err = collector.addSecret(ctx, content, from.Name, from.Items, mode, from.Optional)
		case source.DownwardAPI != nil:
			err = collector.addFields(content, source.DownwardAPI.Items, mode)
		default:
			err = errors.New("one of its projections is of a kind that is not supported here; " +
				"serviceAccountToken, configMap, secret and downwardAPI are")
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (collector collector) addConfigMap(ctx context.Context, content volume.Payload, name string, items []corev1.KeyToPath, mode fs.FileMode, optional *bool) error {
	object, err := collector.objects.ConfigMap(ctx, name)
	if isAbsent(err, optional) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("the ConfigMap %s: %w", name, err)
	}
	data := map[string][]byte{}
	for key, value := range object.Data {
		data[key] = []byte(value)
	}
	maps.Copy(data, object.BinaryData)
	return add(content, "ConfigMap", name, data, items, mode, optional)
}

func (collector collector) addSecret(ctx context.Context, content volume.Payload, name string, items []corev1.KeyToPath, mode fs.FileMode, optional *bool) error {
	object, err := collector.objects.Secret(ctx, name)
	if isAbsent(err, optional) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("the Secret %s: %w", name, err)
	}
	return add(content, "Secret", name, object.Data, items, mode, optional)
}

// add adds the entries of an object: all by their keys, or those named.
func add(content volume.Payload, kind, name string, data map[string][]byte, items []corev1.KeyToPath, mode fs.FileMode, optional *bool) error {
	if len(items) == 0 {
		for key, value := range data {
			content[key] = volume.File{Data: value, Mode: mode}
		}
		return nil
	}
	for _, item := range items {
		value, found := data[item.Key]
		if err := missingKey(kind, name, item.Key, found, optional); err != nil {
			return err
		}
		if found {
			content[item.Path] = volume.File{Data: value, Mode: itemMode(item.Mode, mode)}
		}
	}
	return nil
}

func (collector collector) addFields(content volume.Payload, items []corev1.DownwardAPIVolumeFile, mode fs.FileMode) error {
	for _, item := range items {
		if item.FieldRef == nil {
			return fmt.Errorf("the file %s: resourceFieldRef is not supported: there is no container here with limits", item.Path)
		}
		value, err := field(collector.pod, item.FieldRef.FieldPath)
		if err != nil {
			return fmt.Errorf("the file %s: %w", item.Path, err)
		}
		content[item.Path] = volume.File{Data: []byte(value), Mode: itemMode(item.Mode, mode)}
	}
	return nil
}

// openToGroup lets the group read where the pod names an fsGroup, as a kubelet
// does for volumes that are read-only. The owner stays whoever runs the lab.
func (collector collector) openToGroup(content volume.Payload) {
	security := collector.pod.Spec.SecurityContext
	if security == nil || security.FSGroup == nil {
		return
	}
	for path, file := range content {
		file.Mode |= 0o440
		content[path] = file
	}
}

// modeOf is a volume's default mode; the API server fills it in with 0644.
func modeOf(mode *int32) fs.FileMode { return itemMode(mode, 0o644) }

func itemMode(mode *int32, otherwise fs.FileMode) fs.FileMode {
	if mode == nil {
		return otherwise
	}
	return fs.FileMode(*mode) & fs.ModePerm
}

// tokenMode is the mode of a token's file: for its owner only, if it is known
// who that will be. Kubernetes: fsGroup is set, or all containers run as the
// same user; otherwise a container of another user could not read it.
func tokenMode(pod *corev1.Pod, mode fs.FileMode) fs.FileMode {
	security := pod.Spec.SecurityContext
	if (security != nil && security.FSGroup != nil) || HasOneUser(pod) {
		return 0o600
	}
	return mode
}

// HasOneUser says whether all containers of a pod name the same user, whose the files of its tokens are then.
func HasOneUser(pod *corev1.Pod) bool {
	var user *int64
	for _, list := range [][]corev1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
		for _, container := range list {
			own := runAsUser(pod, container)
			if own == nil || (user != nil && *user != *own) {
				return false
			}
			user = own
		}
	}
	return user != nil
}

func runAsUser(pod *corev1.Pod, container corev1.Container) *int64 {
	if container.SecurityContext != nil && container.SecurityContext.RunAsUser != nil {
		return container.SecurityContext.RunAsUser
	}
	if pod.Spec.SecurityContext != nil {
		return pod.Spec.SecurityContext.RunAsUser
	}
	return nil
}
