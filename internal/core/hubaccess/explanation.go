package hubaccess

import "github.com/tabard-dev/tabard/internal/core/condition"

// Reference explains the condition of a HubAccess and every reason. It is made when it is
// asked for: only the writer of the reference does.
func Reference() condition.Kind {
	return condition.Kind{Name: "HubAccess", Reasons: reasons(), Types: []condition.Type{
		{Name: TypeReady, Holds: "the cluster's agents have the role and the access entry that they shall have, people make both, or the cluster uses none"},
	}}
}

func reasons() []condition.Explanation {
	return []condition.Explanation{
		explain(ReasonAccessGiven, "The role and its access entry are as wanted, and Tabard's.", "Nothing to do."),
		explain(ReasonMadeByHand, "The role and its access entry are as wanted, and were made by somebody else. Tabard changes and deletes neither.", "Delete both when the cluster leaves. If Tabard shall keep them, delete the entry, then the role: they are made anew."),
		explain(ReasonExternal, "The cluster has no ARN in EKS, so people make its role and access entry.", "Make the role and the access entry that the message names."),
		explain(ReasonNoAnnotations, "The cluster was accepted without AWS annotations, so nothing is made for it. The HubAccess remembers that: annotations that come later give no access.", "Nothing to do."),
		explain(ReasonAccessDiffers, "Something of the role or the entry was not as wanted and was put in order. An event has this reason, no condition.", "Find who changes it, if it comes again."),
		explain(ReasonRoleNotYetEffective, "IAM has the role and EKS does not know it yet.", "Nothing to do: it is tried again after 2 seconds, then at longer intervals of at most a minute."),
		explain(ReasonRemoving, "The cluster is deleted or denied, and its role and access entry are being removed.", "Nothing to do."),
		explain(ReasonManagedIAMDisabled, "Managed IAM is switched off, so nothing is looked at or changed in AWS, and no ManagedCluster is held.", "Delete the role and the entry that the message names by hand if their cluster is gone, then this HubAccess."),
		explain(ReasonManagedIAMUnknown, "It is not known whether managed IAM is on, or whether Open Cluster Management's hub controller makes roles itself, so nothing is looked at or changed in AWS.", "Repair what the message names."),
		explain(ReasonActedOnByOCM, "A pod of Open Cluster Management's hub controller runs with the driver awsirsa, which makes and removes roles and access entries on this hub. Released versions do so whatever disableManagedIam says.", "Take the driver awsirsa out of the ClusterManager."),
		explain(ReasonHubARNMissing, "The ARN of the hub is not known, or is given in two ways that differ.", "Set the flag --hubaccess-hub-cluster-arn."),
		explain(ReasonHubChanged, "The role was made for another hub than the one that is configured.", "Configure the former hub, or delete what the message names by hand, then this HubAccess."),
		explain(ReasonAnnotationsMalformed, "The annotations of the ManagedCluster cannot be understood.", "Correct the annotations, or delete the ManagedCluster and join the cluster again; then deny the cluster and accept it again, since annotations that come after the acceptance give no access."),
		explain(ReasonAnnotationsMismatched, "The annotations of the ManagedCluster do not belong to this hub.", "Join the cluster with the ARN of this hub, as for AnnotationsMalformed."),
		explain(ReasonAnnotationsChanged, "The AWS annotations were written or changed after the cluster was accepted, which its agent may do. They give no access, and keep no suffix from others. Access that was given is still that of the cluster that was accepted.", "If the annotations are meant, deny the cluster, and accept it again when its HubAccess is gone."),
		explain(ReasonSuffixInUse, "Another cluster has or claims the same suffix, and with it the same role.", "Deny or delete the cluster that is not meant."),
		explain(ReasonRoleNotOurs, "A role of the name is there that Tabard did not make for this cluster.", "Delete the role and its access entry, or give both the wanted form."),
		explain(ReasonEntryNotOurs, "An access entry of the role is there that Tabard did not make for this cluster.", "Delete the access entry."),
		explain(ReasonSpokeRoleMissing, "AWS refuses the trust policy, because the spoke's role does not exist.", "Make the role that the message names in the spoke's account, with its tags."),
		explain(ReasonRoleInUse, "The role cannot be deleted, because others gave it policies or an instance profile.", "Take them off the role."),
		explain(ReasonWaitingForWorks, "The cluster is deleted or denied, and works or add-ons of it are still there.", "Wait until the agents have removed them. If the cluster does not exist any more, remove their finalizers."),
		explain(ReasonWorksUnread, "It could not be read whether works of the cluster are still there.", "Nothing to do if it passes; else grant the right that the message names."),
		explain(ReasonNotAuthenticated, "AWS does not accept the credentials of Tabard.", "Repair the role of the ServiceAccount."),
		explain(ReasonAccessDenied, "Tabard is known to AWS and lacks a right.", "Give the role of the ServiceAccount the right that the message names."),
		explain(ReasonAWSUnavailable, "AWS did not answer, or asked for fewer calls.", "Nothing to do: it is tried again by itself."),
		explain(ReasonAWSRefused, "AWS says that the call cannot succeed as it is.", "Follow AWS's own text in the message."),
	}
}

func explain(reason Reason, meaning, remedy string) condition.Explanation {
	return condition.Explain(reason, TypeReady, meaning, remedy)
}
