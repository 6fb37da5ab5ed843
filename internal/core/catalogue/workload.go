package catalogue

import (
	"cmp"
	"path"
	"slices"
)

// Workload is as what an operator's pods run.
type Workload struct {
	// ServiceAccounts are sorted. A Deployment that names none runs as "default".
	ServiceAccounts []string
	// Audiences are those of projected tokens, sorted.
	Audiences []string
}

// Deployments are those of a ClusterServiceVersion, at spec.install.spec.deployments, in JSON.
type Deployments []struct {
	Spec struct {
		Template struct {
			Spec podSpec `json:"spec"`
		} `json:"template"`
	} `json:"spec"`
}

// podSpec is what is looked at of a pod.
type podSpec struct {
	ServiceAccountName string `json:"serviceAccountName"`
	Containers         []struct {
		VolumeMounts []volumeMount `json:"volumeMounts"`
	} `json:"containers"`
	Volumes []struct {
		Name      string `json:"name"`
		Projected struct {
			Sources []struct {
				ServiceAccountToken struct {
					Audience string `json:"audience"`
					Path     string `json:"path"`
				} `json:"serviceAccountToken"`
			} `json:"sources"`
		} `json:"projected"`
	} `json:"volumes"`
}

type volumeMount struct {
	Name        string `json:"name"`
	MountPath   string `json:"mountPath"`
	SubPath     string `json:"subPath"`
	SubPathExpr string `json:"subPathExpr"`
}

// Token is the token of a projected volume, as a container sees it.
type Token struct {
	ServiceAccount string
	// Audience is empty for that of the API server.
	Audience string
	// File is the path in the container.
	File string
	// BySubPath says that the file is mounted alone: the kubelet never renews it
	// (https://kubernetes.io/docs/concepts/storage/projected-volumes/).
	BySubPath bool
}

// Workload is as what the Deployments run.
func (d Deployments) Workload() Workload {
	var out Workload
	for _, one := range d {
		pod := one.Spec.Template.Spec
		out.ServiceAccounts = append(out.ServiceAccounts, pod.account())
		for _, volume := range pod.Volumes {
			for _, source := range volume.Projected.Sources {
				if a := source.ServiceAccountToken.Audience; a != "" {
					out.Audiences = append(out.Audiences, a)
				}
			}
		}
	}
	slices.Sort(out.ServiceAccounts)
	slices.Sort(out.Audiences)
	out.ServiceAccounts, out.Audiences = slices.Compact(out.ServiceAccounts), slices.Compact(out.Audiences)
	return out
}

// Tokens are those that the containers mount; init containers do not count.
func (d Deployments) Tokens() []Token {
	var out []Token
	for _, one := range d {
		pod := one.Spec.Template.Spec
		for _, container := range pod.Containers {
			for _, mount := range container.VolumeMounts {
				out = append(out, pod.tokens(mount)...)
			}
		}
	}
	return out
}

func (p podSpec) account() string { return cmp.Or(p.ServiceAccountName, "default") }

// tokens are those of the volume that is mounted. Of a subPath that pods complete nothing is known.
func (p podSpec) tokens(mount volumeMount) []Token {
	var out []Token
	for _, volume := range p.Volumes {
		if volume.Name != mount.Name || mount.SubPathExpr != "" {
			continue
		}
		for _, source := range volume.Projected.Sources {
			token := source.ServiceAccountToken
			if token.Path == "" {
				continue
			}
			one := Token{ServiceAccount: p.account(), Audience: token.Audience, File: path.Join(mount.MountPath, token.Path)}
			if mount.SubPath != "" {
				rest, inside := below(path.Clean(mount.SubPath), path.Clean(token.Path))
				if !inside {
					continue
				}
				one.File, one.BySubPath = path.Join(mount.MountPath, rest), true
			}
			out = append(out, one)
		}
	}
	return out
}

// below is the path of a file from a folder on, which may be the file itself.
func below(folder, file string) (rest string, inside bool) {
	if file == folder {
		return "", true
	}
	if len(file) > len(folder) && file[:len(folder)+1] == folder+"/" {
		return file[len(folder)+1:], true
	}
	return "", false
}
