import { Link, useSearchParams } from 'react-router-dom'
import { Label } from '@patternfly/react-core'

interface Props { version: { version?: string; csv: string }; isChosen: boolean }

// VersionName leads to a version, unless the page is about it.
export function VersionName({ version: { version, csv }, isChosen }: Props) {
  const [params] = useSearchParams()
  const to = new URLSearchParams(params)
  to.set('version', version ?? csv)
  return isChosen ? <>{version ?? csv} <Label isCompact color="blue">shown</Label></> : <Link to={`?${to}`}>{version ?? csv}</Link>
}
