eval "$(tabard lab env)"
# The names of the lab's issuer are not those of a cluster of OpenShift.
unset TABARD_ISSUER_URL TABARD_ISSUER_BUCKET
