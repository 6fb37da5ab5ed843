import { Label, LabelGroup } from '@patternfly/react-core'
import type { Row } from '../api/types'
import { cloudName } from './words'

interface Props { row: Row; cloud?: string }

// CloudLabels has the clouds whose tokens the operator takes. That of this cluster is filled, and
// says so to who does not see it.
export function CloudLabels({ row, cloud }: Props) {
  const taken = Object.keys(row.tokens).filter((name) => row.tokens[name] === 'yes')
  if (taken.length === 0) return <span className="tabard-breaks">{withoutCloud(row)}</span>
  return (
    <LabelGroup aria-label={`Token login of ${row.package}`} numLabels={3}>
      {taken.map((name) => (
        <Label key={name} isCompact color="blue" variant={name === cloud ? 'filled' : 'outline'}>
          {cloudName(name)}
          {name === cloud && <span className="pf-v6-screen-reader"> (this cluster)</span>}
        </Label>
      ))}
    </LabelGroup>
  )
}

function withoutCloud({ tokens, why }: Row): string {
  const said = Object.values(tokens)
  if (said.includes('claimed')) return 'Claimed, the cloud is not known'
  if (said.includes('unknown')) return why ? `Not known: ${why}` : 'Not known'
  return said.includes('no') ? 'Not supported' : 'Not stated'
}
