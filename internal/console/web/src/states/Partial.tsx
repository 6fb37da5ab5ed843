import { Alert, AlertActionLink, List, ListItem } from '@patternfly/react-core'
import type { CatalogueFinding } from '../api/types'

interface Props { findings: CatalogueFinding[]; total?: number; retry: () => void }

// Partial says what could not be read of what the page shows the rest of.
export function Partial({ findings, total = findings.length, retry }: Props) {
  if (total === 0) return null
  return (
    <Alert
      variant="warning"
      isInline
      isExpandable
      component="h2"
      title={`Incomplete: ${total === 1 ? 'one part' : `${total} parts`} could not be read`}
      toggleAriaLabel="Faults"
      actionLinks={<AlertActionLink onClick={retry}>Read again</AlertActionLink>}
    >
      <List>
        {findings.map((finding, n) => <ListItem key={n} className="tabard-breaks">{sentenceOf(finding)}</ListItem>)}
      </List>
      {total > findings.length && <p>And {total - findings.length} more, which the command shows.</p>}
    </Alert>
  )
}

function sentenceOf({ file, document, object, message }: CatalogueFinding) {
  const place = [file, document === undefined ? '' : `document ${document}`, object].filter(Boolean).join(', ')
  return place ? `${place}: ${message}` : message
}
