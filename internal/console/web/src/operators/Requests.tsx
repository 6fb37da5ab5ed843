import {
  Card, CardBody, CardTitle, DescriptionList, DescriptionListDescription, DescriptionListGroup, DescriptionListTerm, Label,
  List, ListItem, Title,
} from '@patternfly/react-core'
import ExclamationTriangleIcon from '@patternfly/react-icons/dist/esm/icons/exclamation-triangle-icon'
import type { PermissionRequest, Sentence } from '../api/types'

export function Requests({ requests }: { requests: PermissionRequest[] }) {
  return requests.map((request) => (
    <Card key={request.name} isCompact>
      <CardTitle><Title headingLevel="h2" size="md" className="tabard-breaks">Request {request.name}</Title></CardTitle>
      <CardBody>
        <Who request={request} />
        {request.sentences.length === 0 ? <p>It asks for nothing.</p> : <Sentences sentences={request.sentences} />}
      </CardBody>
    </Card>
  ))
}

function Who({ request }: { request: PermissionRequest }) {
  const rows = [
    ['ServiceAccounts', request.serviceAccounts.join(', ') || 'Not stated'],
    ['Audiences', request.audiences.join(', ') || 'Not stated'],
    ['Secret', request.secret || 'Not stated'],
  ]
  return (
    <DescriptionList isHorizontal isCompact horizontalTermWidthModifier={{ default: '9rem' }} className="tabard-facts">
      {rows.map(([term, value]) => (
        <DescriptionListGroup key={term}>
          <DescriptionListTerm>{term}</DescriptionListTerm>
          <DescriptionListDescription className="tabard-breaks">{value}</DescriptionListDescription>
        </DescriptionListGroup>
      ))}
    </DescriptionList>
  )
}

function Sentences({ sentences }: { sentences: Sentence[] }) {
  const sensitiveFirst = [...sentences].sort((a, b) => Number(b.marks.length > 0) - Number(a.marks.length > 0))
  return (
    <List>
      {sensitiveFirst.map(({ text, marks }) => (
        <ListItem key={text} className="tabard-breaks">
          {marks.length > 0 && <><Sensitive /> </>}
          {text}
          {marks.length > 0 && <div className="tabard-small">because of {marks.join(', ')}</div>}
        </ListItem>
      ))}
    </List>
  )
}

export function Sensitive() {
  return <Label isCompact color="orange" icon={<ExclamationTriangleIcon />}>sensitive</Label>
}
