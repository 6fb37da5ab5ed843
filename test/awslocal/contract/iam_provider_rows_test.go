package contract_test

import (
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
)

var providerRows = []row{{
	operation: "CreateOpenIDConnectProvider",
	call: func(w *world) error {
		return errorOf(w.iam.CreateOpenIDConnectProvider(w.ctx, &iam.CreateOpenIDConnectProviderInput{Url: &w.providerURL, ClientIDList: []string{audience}}))
	},
	again: "EntityAlreadyExists",
}, {
	operation: "GetOpenIDConnectProvider",
	needs:     []string{"CreateOpenIDConnectProvider"},
	call: func(w *world) error {
		return errorOf(w.iam.GetOpenIDConnectProvider(w.ctx, &iam.GetOpenIDConnectProviderInput{OpenIDConnectProviderArn: aws.String(w.providerARN())}))
	},
	absent: "NoSuchEntity",
}, {
	operation: "ListOpenIDConnectProviders",
	call: func(w *world) error {
		return errorOf(w.iam.ListOpenIDConnectProviders(w.ctx, &iam.ListOpenIDConnectProvidersInput{}))
	},
	whole: "AWS does not page it",
}, {
	operation: "DeleteOpenIDConnectProvider",
	needs:     []string{"CreateOpenIDConnectProvider"},
	call: func(w *world) error {
		return errorOf(w.iam.DeleteOpenIDConnectProvider(w.ctx, &iam.DeleteOpenIDConnectProviderInput{OpenIDConnectProviderArn: aws.String(w.providerARN())}))
	},
	absent: "NoSuchEntity",
	again:  "NoSuchEntity",
}, {
	operation: "AddClientIDToOpenIDConnectProvider",
	needs:     []string{"CreateOpenIDConnectProvider"},
	call: func(w *world) error {
		return errorOf(w.iam.AddClientIDToOpenIDConnectProvider(w.ctx, &iam.AddClientIDToOpenIDConnectProviderInput{
			OpenIDConnectProviderArn: aws.String(w.providerARN()), ClientID: &w.client,
		}))
	},
	absent: "NoSuchEntity",
}, {
	operation: "RemoveClientIDFromOpenIDConnectProvider",
	needs:     []string{"AddClientIDToOpenIDConnectProvider"},
	call: func(w *world) error {
		return errorOf(w.iam.RemoveClientIDFromOpenIDConnectProvider(w.ctx, &iam.RemoveClientIDFromOpenIDConnectProviderInput{
			OpenIDConnectProviderArn: aws.String(w.providerARN()), ClientID: &w.client,
		}))
	},
	except: map[string]string{"CreateOpenIDConnectProvider": "NoSuchEntity"},
}, {
	operation: "UpdateOpenIDConnectProviderThumbprint",
	needs:     []string{"CreateOpenIDConnectProvider"},
	call: func(w *world) error {
		return errorOf(w.iam.UpdateOpenIDConnectProviderThumbprint(w.ctx, &iam.UpdateOpenIDConnectProviderThumbprintInput{
			OpenIDConnectProviderArn: aws.String(w.providerARN()), ThumbprintList: []string{"9e99a48a9960b14926bb7f3b02e22da2b0ab7280"},
		}))
	},
	absent: "NoSuchEntity",
}, {
	operation: "TagOpenIDConnectProvider",
	needs:     []string{"CreateOpenIDConnectProvider"},
	call: func(w *world) error {
		return errorOf(w.iam.TagOpenIDConnectProvider(w.ctx, &iam.TagOpenIDConnectProviderInput{OpenIDConnectProviderArn: aws.String(w.providerARN()), Tags: tags(w.tag)}))
	},
	absent: "NoSuchEntity",
}, {
	operation: "UntagOpenIDConnectProvider",
	needs:     []string{"TagOpenIDConnectProvider"},
	call: func(w *world) error {
		return errorOf(w.iam.UntagOpenIDConnectProvider(w.ctx, &iam.UntagOpenIDConnectProviderInput{
			OpenIDConnectProviderArn: aws.String(w.providerARN()), TagKeys: []string{w.tag},
		}))
	},
	except: map[string]string{"CreateOpenIDConnectProvider": "NoSuchEntity"},
}, {
	operation: "ListOpenIDConnectProviderTags",
	needs:     []string{"CreateOpenIDConnectProvider"},
	call: func(w *world) error {
		return errorOf(w.iam.ListOpenIDConnectProviderTags(w.ctx, &iam.ListOpenIDConnectProviderTagsInput{OpenIDConnectProviderArn: aws.String(w.providerARN())}))
	},
	absent: "NoSuchEntity",
	fill:   func(w *world, name string) error { w.tag = name; return w.run("iam/TagOpenIDConnectProvider") },
	pages: func(w *world) ([]string, error) {
		in := &iam.ListOpenIDConnectProviderTagsInput{OpenIDConnectProviderArn: aws.String(w.providerARN()), MaxItems: pageOf}
		return shown(w, iam.NewListOpenIDConnectProviderTagsPaginator(w.iam, in), func(p *iam.ListOpenIDConnectProviderTagsOutput) []string {
			return texts(p.Tags, tagKey)
		})
	},
}}
