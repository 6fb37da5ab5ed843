import { Link } from 'react-router-dom'
import { Card, CardBody, CardTitle, Stack, Title } from '@patternfly/react-core'
import type { Todo } from '../api/types'
import { sentence } from '../states/words'
import { Compared, Mend } from '../workloads/FindingCard'

// TodoCard is what to do next.
export function TodoCard({ todo: { title, observed, required, commands, blanks, note, path } }: { todo: Todo }) {
  return (
    <Card component="section" aria-labelledby="todo">
      <CardTitle><Title headingLevel="h2" size="lg" id="todo">What to do next</Title></CardTitle>
      <CardBody>
        <Stack hasGutter>
          <p className="tabard-breaks tabard-symptom">{sentence(title)}</p>
          <Compared observed={observed} required={required} level="h3" />
          {(commands.length > 0 || note) && <Mend title="What to type" commands={commands} blanks={blanks} note={note} level="h3" />}
          {path && <p><Link to={path}>All that was seen of it</Link></p>}
        </Stack>
      </CardBody>
    </Card>
  )
}
