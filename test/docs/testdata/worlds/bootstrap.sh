# The controller for CredentialsRequests is installed, and does not run yet.
eval "$(tabard lab env)"
kubectl apply -f "$ROOT/config/manifests/credentials"
cp ../issuer/issuer.yaml .
