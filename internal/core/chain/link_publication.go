package chain

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/tabard-dev/tabard/internal/core/issuer"
	"github.com/tabard-dev/tabard/internal/core/line"
)

// publication compares what anybody gets at the issuer's URL with what the API server signs with. AWS
// fetches the discovery document, and the keys that it leads to, without credentials
// (https://docs.aws.amazon.com/IAM/latest/UserGuide/id_roles_providers_create_oidc.html).
func (w *walk) publication() Step {
	if w.issuer().State != Sound {
		return Step{State: Unreached, Text: "no issuer is known whose documents AWS could fetch"}
	}
	p := w.Published.Value
	switch {
	case w.Published.Unread != "":
		return unseen("the documents at "+w.url(), w.Published.Unread, w.Published.Needs)
	case p == nil:
		return unseen("the documents at "+w.url(), "nobody has fetched them", "a machine that reaches them")
	}
	if step, ends := w.answered(p.Discovery); ends {
		return step
	}
	if p.Discovery.Wrong != "" { // which says where the keys are: what came for them tells nothing then
		return broken(w.document(p.Discovery, Proved))
	}
	if step, ends := w.answered(p.Keys); ends {
		return step
	}
	if p.Keys.Wrong == "" {
		return w.signed(p)
	}
	certainty := Proved
	if p.Keys.Single || len(p.Held) > 0 { // what is wrong may be about another key than the one that signs
		certainty = Likely
	}
	if step := w.signed(p); p.Keys.Single && step.State == Sound {
		step.Text += "; beside it, " + p.Keys.Wrong
		return step
	}
	return broken(w.document(p.Keys, certainty))
}

// answered judges whether a document came. Only an answer proves that AWS gets none either.
func (w *walk) answered(a Answer) (step Step, ends bool) {
	switch {
	case a.Error != "" || a.Status == 0:
		return unseen(a.At, "no answer came to this machine: "+a.Error, "a machine that reaches it: fetch it from elsewhere"), true
	case a.Redirect != "":
		return broken(w.publish(Finding{
			Code: CodeNotPublic, Certainty: Likely, Symptom: "a document of the issuer is not at its URL",
			Observed: a.At + " redirects to " + a.Redirect, Required: "the document itself: AWS does not say that it follows",
		})), true
	case a.Status == statusOK:
		return Step{}, false
	case !slices.Contains(slices.Concat(gone, refusing), a.Status):
		return unseen(a.At, fmt.Sprintf("the answer is %d, which does not say whether the document is there", a.Status), "an answer of its server; try again"), true
	}
	f := w.publish(Finding{
		Code: CodeNotPublic, Certainty: Proved, Symptom: "a document of the issuer is missing, or not everybody may read it",
		Observed: fmt.Sprintf("%s answers %d", a.At, a.Status), Required: "200 for whoever asks without credentials",
	})
	if slices.Contains(refusing, a.Status) {
		f.Certainty = Likely
		f.Note = "If it answers 200 elsewhere, only this machine is refused: curl -s -o /dev/null -w '%{http_code}' " + line.Word(a.At) + " shows it. " + f.Note
	}
	return broken(f), true
}

// statusOK says that the document came (RFC 9110 15.3.1).
const statusOK = 200

// gone are answers that say that nobody gets the document (RFC 9110 15.5.5 and 15.5.11). With refusing
// ones a server may single this machine out, by its address or its country (RFC 9110 15.5.2 and 15.5.4,
// RFC 7725 3). All others say nothing of the document: a proxy wants a password, or later is better.
var gone, refusing = []int{404, 410}, []int{401, 403, 451}

// document is the finding of a document that came and is wrong.
func (w *walk) document(a Answer, certainty Certainty) Finding {
	return w.publish(Finding{
		Code: CodeDocument, Certainty: certainty, Symptom: "a document of the issuer cannot be used",
		Observed: a.At + ": " + a.Wrong, Required: "a discovery document of " + w.url() + ", and the public keys that it leads to",
	})
}

// signed compares the published keys with those of the API server.
func (w *walk) signed(p *Published) Step {
	s := w.Signing.Value
	switch {
	case w.Signing.Unread != "":
		return unseen("both documents can be read; which key the API server signs with is not known", w.Signing.Unread, w.Signing.Needs)
	case s == nil || s.Token == "" && len(s.Keys) == 0:
		return unseen("both documents can be read; which key the API server signs with is not known", "it shows none", "get /openid/v1/jwks")
	case s.Token != "":
		// Any key of the token's ID may have signed it.
		sign := slices.DeleteFunc(slices.Clone(s.Keys), func(k issuer.UsableKey) bool { return k.ID != s.Token })
		if len(sign) == 0 {
			sign = []issuer.UsableKey{{ID: s.Token}}
		}
		if !slices.ContainsFunc(p.Held, func(k issuer.UsableKey) bool {
			return slices.Contains(sign, k) || sign[0].Thumbprint == "" && k.ID == s.Token
		}) {
			return broken(w.keyMissing(sign, p))
		}
		return Step{State: Sound, Text: "both documents can be read without credentials, and the key " + line.Of(s.Token) + " that signs is published"}
	}
	var missing []issuer.UsableKey
	for _, key := range s.Keys {
		if !slices.Contains(p.Held, key) {
			missing = append(missing, key)
		}
	}
	switch len(missing) {
	case 0:
		return Step{State: Sound, Text: "both documents can be read without credentials, with the API server's keys: " + ids(s.Keys)}
	case len(s.Keys):
		return broken(w.keyMissing(missing, p))
	}
	f := w.publish(Finding{
		Code: CodeKeysDiffer, Certainty: Likely, Symptom: "not all keys of the API server are published",
		Observed: "not published: " + ids(missing), Required: "the key that the API server signs with, at " + p.Keys.At,
	})
	f.Mend = append([]string{w.kubectl("create token "+line.Word(w.subject.Account)+" --duration 10m --audience tabard.dev/explain") + " | tabard decode"}, f.Mend...)
	f.Note = "The first command shows the ID of the key that signs today. If that one is published, nothing is wrong: a key that is to sign later, or does no longer, may be missing. " + f.Note
	return broken(f)
}

// keyMissing is the finding of keys that sign and are not published.
func (w *walk) keyMissing(missing []issuer.UsableKey, p *Published) Finding {
	published := "published: " + ids(p.Held)
	for _, key := range missing {
		if slices.ContainsFunc(p.Held, func(k issuer.UsableKey) bool { return k.ID == key.ID }) {
			published += ", of which one has the ID of the API server's and is another key"
			break
		}
	}
	return w.publish(Finding{
		Code: CodeKeyMissing, Certainty: Proved, Symptom: "the key that the API server signs with is not published",
		Observed: published, Required: ids(missing) + ", at " + p.Keys.At,
	})
}

// mostIDs is how many key IDs are shown.
const mostIDs = 5

// ids are key IDs for people.
func ids(keys []issuer.UsableKey) string {
	var out []string
	for _, key := range keys[:min(mostIDs, len(keys))] {
		out = append(out, fmt.Sprintf("%.80s", cmp.Or(line.Of(key.ID), "(without an ID)")))
	}
	if more := len(keys) - mostIDs; more > 0 {
		out = append(out, fmt.Sprintf("and %d more", more))
	}
	return listed(out)
}

// publish gives a finding the command that publishes the documents anew, where the issuer may be
// Tabard's, and says whose it is where it is not.
func (w *walk) publish(f Finding) Finding {
	if whose := publisher(w.url()); whose != "" {
		f.Mend = []string{"tabard issuer verify " + line.Word(w.url())}
		f.Note = "The issuer is of " + whose + ", which publishes it itself, and the command shows what is wrong. If it fails on other machines too, ask there; a cluster that is gone has no issuer any more."
		return f
	}
	f.Mend, f.Blanks = []string{"tabard issuer bootstrap -f " + blankFile}, []string{blankFile}
	f.Note = "FILE has the OIDCIssuer, and your session in AWS is of the account of its bucket: docs/oidc-issuer.md. While the operator runs, tabard issuer status says why it does not do that itself. An issuer that another tool publishes, such as OpenShift's ccoctl, is that tool's to mend."
	return f
}

// publisher is who publishes an issuer for its customers, by its host; empty for nobody that is known
// (https://docs.aws.amazon.com/eks/latest/userguide/enable-iam-roles-for-service-accounts.html,
// https://learn.microsoft.com/azure/aks/use-oidc-issuer,
// https://cloud.google.com/kubernetes-engine/docs/reference/rest/v1/projects.locations.clusters).
func publisher(text string) string {
	at, err := url.Parse(text)
	if err != nil {
		return ""
	}
	host := "." + strings.ToLower(at.Hostname())
	switch {
	case strings.HasPrefix(host, ".oidc.eks.") && (strings.HasSuffix(host, ".amazonaws.com") || strings.HasSuffix(host, ".amazonaws.com.cn")):
		return "AWS (EKS)"
	case strings.HasSuffix(host, ".oic.prod-aks.azure.com"):
		return "Azure (AKS)"
	case host == ".container.googleapis.com":
		return "Google (GKE)"
	case strings.HasSuffix(host, ".openshiftapps.com"):
		return "Red Hat (ROSA)"
	}
	return ""
}
