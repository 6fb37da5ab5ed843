# The OIDCIssuer is gone, and its provider stays.
eval "$(tabard lab env)"
kubectl delete oidcissuer --all --timeout=60s
