package inject

import (
	"fmt"
	"path"
	"slices"

	"github.com/tabard-dev/tabard/internal/core/inject/raw"
)

// The variables that the AWS SDKs read.
const (
	stsVariable           = "AWS_STS_REGIONAL_ENDPOINTS"
	defaultRegionVariable = "AWS_DEFAULT_REGION"
	regionVariable        = "AWS_REGION"
	roleVariable          = "AWS_ROLE_ARN"
	tokenVariable         = "AWS_WEB_IDENTITY_TOKEN_FILE"
)

// grant is what each container of a pod gets, the same for all of them.
type grant struct {
	// sts, region and credentials are the variables as JSON, in the order in
	// which they are added; empty ones are not wanted.
	sts, region, credentials [][]byte
	// credentialNames are the names of the credentials' variables: one that is
	// there keeps all of them away.
	credentialNames [2]string
	volume          string
	mountPath       string
	mount           []byte
}

// grant is the web identity: a role and a file with a token.
func (in *Injector) grant(pod Pod, found binding) grant {
	token := in.unixToken
	if pod.windows {
		token = in.windowsToken
	}
	g := grant{
		region:          in.region,
		credentials:     [][]byte{variableJSON(roleVariable, found.roleARN), token},
		credentialNames: [2]string{roleVariable, tokenVariable},
		volume:          VolumeName,
		mountPath:       in.settings.MountPath,
		mount:           in.mount,
	}
	if found.regionalSTS {
		g.sts = in.sts
	}
	return g
}

// writer goes over the containers of one pod.
type writer struct {
	grant    grant
	skip     []string
	patch    patch
	warnings []string
}

// container is what matters of one container.
type container struct {
	list  string
	index int
	name  raw.Value
	// env and mounts are the lists as they are.
	env, mounts raw.Value
	// What is present in them.
	hasSTS, hasRegion, hasCredentials bool
	hasMount                          bool
	// rival is the name of another volume that is mounted at the token's path.
	rival string
}

// containers writes what the containers of one list get.
func (w *writer) containers(list string, containers raw.Value) error {
	index := 0
	for c := containers.Walk(); c.Next(); index++ {
		found, err := w.grant.read(list, index, c.Value())
		if err != nil {
			return err
		}
		if !w.skips(found.name) {
			w.container(found)
		}
	}
	return nil
}

func (w *writer) skips(name raw.Value) bool {
	return slices.ContainsFunc(w.skip, name.Is)
}

// container writes what one container gets. A container that has credentials,
// region and STS switch already has arranged everything itself: it is left
// alone, also without a mount.
func (w *writer) container(c container) {
	if c.hasCredentials && c.hasRegion && c.hasSTS {
		return
	}
	var buffer [5][]byte
	variables := buffer[:0]
	if !c.hasSTS {
		variables = append(variables, w.grant.sts...)
	}
	if !c.hasRegion {
		variables = append(variables, w.grant.region...)
	}
	if !c.hasCredentials {
		variables = append(variables, w.grant.credentials...)
	}
	w.patch.appendTo(c.list, c.index, "env", c.env, variables)
	switch {
	case c.hasMount:
	case c.rival != "":
		w.warnings = append(w.warnings, fmt.Sprintf(
			"container %.63q mounts volume %.63q at %s, where the AWS token belongs; the token is not mounted",
			c.name.Text(), c.rival, w.grant.mountPath))
	default:
		w.patch.appendTo(c.list, c.index, "volumeMounts", c.mounts, [][]byte{w.grant.mount})
	}
}

// read finds what is present in one container.
func (g grant) read(list string, index int, value raw.Value) (container, error) {
	if value.Kind() != raw.Object {
		return container{}, fmt.Errorf("spec.%s[%d] is %s, expected an object", list, index, value.Kind())
	}
	found := container{list: list, index: index}
	for c := value.Walk(); c.Next(); {
		switch string(c.Name()) {
		case "name":
			found.name = c.Value()
		case "env":
			found.env = c.Value()
		case "volumeMounts":
			found.mounts = c.Value()
		}
	}
	if err := found.readEnv(g.credentialNames); err != nil {
		return container{}, fmt.Errorf("spec.%s[%d].%w", list, index, err)
	}
	if err := found.readMounts(g.volume, g.mountPath); err != nil {
		return container{}, fmt.Errorf("spec.%s[%d].%w", list, index, err)
	}
	return found, nil
}

func (c *container) readEnv(credentials [2]string) error {
	if err := expect("env", c.env, raw.Array); err != nil {
		return err
	}
	for entry := c.env.Walk(); entry.Next(); {
		if err := expect("env[]", entry.Value(), raw.Object); err != nil {
			return err
		}
		name := entry.Value().Get("name")
		c.hasSTS = c.hasSTS || name.Is(stsVariable)
		c.hasRegion = c.hasRegion || name.Is(regionVariable) || name.Is(defaultRegionVariable)
		c.hasCredentials = c.hasCredentials || name.Is(credentials[0]) || name.Is(credentials[1])
	}
	return nil
}

func (c *container) readMounts(volume, mountPath string) error {
	if err := expect("volumeMounts", c.mounts, raw.Array); err != nil {
		return err
	}
	clean := path.Clean(mountPath)
	for entry := c.mounts.Walk(); entry.Next(); {
		if err := expect("volumeMounts[]", entry.Value(), raw.Object); err != nil {
			return err
		}
		name := entry.Value().Get("name")
		if name.Is(volume) {
			c.hasMount = true
		} else if path.Clean(entry.Value().Get("mountPath").Text()) == clean {
			c.rival = name.Text()
		}
	}
	return nil
}
