package listing

import "github.com/tabard-dev/tabard/internal/core/catalogue"

// CatalogueFinding is what is wrong with a catalogue at one place, for programs.
type CatalogueFinding struct {
	Code catalogue.Code `json:"code"`
	File string         `json:"file,omitempty"`
	// Document counts from 1 within the file; 0 is the file itself.
	Document int `json:"document,omitempty"`
	// Object is what it is about, as catalogue.Object writes it; empty for the file or document.
	Object  string `json:"object,omitempty"`
	Message string `json:"message"`
}

// FindingsOf are findings for programs; never nil.
func FindingsOf(all []catalogue.Finding) []CatalogueFinding {
	out := []CatalogueFinding{}
	for _, f := range all {
		out = append(out, CatalogueFinding{f.Code, f.Where.File, f.Where.Document, f.Where.Object, f.Message})
	}
	return out
}

// About divides the findings of a catalogue into those of a package, and those of which it is not
// known what they are about, such as a document that cannot be read.
func About(c *catalogue.Catalogue, p *catalogue.Package) (own, unplaced []catalogue.Finding) {
	type place struct {
		code            catalogue.Code
		object, message string
	}
	objects, channels := map[string]bool{catalogue.Object("package", p.Name): true}, map[place]bool{}
	for _, b := range p.Bundles {
		objects[catalogue.Object("bundle", b.Name)] = true
	}
	// A finding names a channel and not its package: what is wrong with this package's channels
	// is found once more.
	var again catalogue.Builder
	for _, channel := range p.Channels {
		again.Channel(p.Name, channel, catalogue.Where{})
	}
	for _, f := range again.Build().Findings {
		channels[place{f.Code, f.Where.Object, f.Message}] = true
	}
	for _, f := range c.Findings {
		switch {
		case f.Where.Source.Kind != "" && f.Where.Source != p.Source:
		case f.Where.Object == "":
			unplaced = append(unplaced, f)
		case objects[f.Where.Object] || channels[place{f.Code, f.Where.Object, f.Message}]:
			own = append(own, f)
		}
	}
	return own, unplaced
}
