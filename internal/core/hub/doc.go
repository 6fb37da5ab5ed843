// Package hub has the facts about clusters that join an Open Cluster Management hub in
// EKS with AWS identity: ARNs, the suffix of role names, what a ManagedCluster says of
// itself, the trust of its role, and which clusters may be accepted by a pattern.
//
// Names, the suffix and the trust policy are those of Open Cluster Management's driver
// awsirsa v1.2.1, so that agents of it find what is made by them.
package hub
