package listing

import (
	"fmt"
	"strings"

	"github.com/tabard-dev/tabard/internal/core/catalogue"
)

// CloudNamed is the cloud of a name, such as aws, of those in Clouds.
func CloudNamed(name string) (catalogue.Cloud, bool) {
	for _, c := range Clouds() {
		if c.String() == name {
			return c, true
		}
	}
	return 0, false
}

// Few are up to eight texts.
func Few(all []string) string {
	const most = 8
	switch {
	case len(all) == 0:
		return "none"
	case len(all) > most:
		return fmt.Sprintf("%s and %d more", strings.Join(all[:most], ", "), len(all)-most)
	}
	return strings.Join(all, ", ")
}
