import { useId } from 'react'
import { Card, CardBody, CardTitle, Label, LabelGroup, Stack, Title } from '@patternfly/react-core'
import CheckCircleIcon from '@patternfly/react-icons/dist/esm/icons/check-circle-icon'
import QuestionCircleIcon from '@patternfly/react-icons/dist/esm/icons/question-circle-icon'
import type { Finding } from '../api/types'
import { Command } from '../states/Command'
import { sentence } from '../states/words'

interface Props { finding: Finding; title: string; level: 'h2' | 'h3' }

// FindingCard says what is wrong, and what to type.
export function FindingCard({ finding, title, level }: Props) {
  const below = level === 'h2' ? 'h3' : 'h4'
  const id = useId()
  return (
    <Card component="section" aria-labelledby={id} className={level === 'h2' ? 'tabard-finding' : undefined}>
      <CardTitle><Title headingLevel={level} size="lg" id={id}>{title}</Title></CardTitle>
      <CardBody>
        <Stack hasGutter>
          <p className="tabard-breaks tabard-symptom">{sentence(finding.symptom)}</p>
          <LabelGroup numLabels={2} aria-label="Of the finding">
            <Certainty certainty={finding.certainty} />
            <Label isCompact variant="outline">{finding.code}</Label>
          </LabelGroup>
          <Compared {...finding} level={below} />
          <Mend title="Mend it" commands={finding.mend} blanks={finding.blanks} note={finding.note} level={below} />
          <Command command={finding.verify} label="See that it is mended" />
        </Stack>
      </CardBody>
    </Card>
  )
}

function Certainty({ certainty }: { certainty: string }) {
  if (certainty === 'proved') return <Label isCompact color="red" icon={<CheckCircleIcon />}>Proved</Label>
  return <Label isCompact color="orange" icon={<QuestionCircleIcon />}>Likely, not proved</Label>
}

interface ComparedProps { observed?: string; required?: string; level: 'h3' | 'h4' }

// Compared has what is there beside what should be. There may be nothing that should be.
export function Compared({ observed, required, level }: ComparedProps) {
  if (!observed && !required) return null
  const texts = [['Observed', observed], ...required ? [['Required', required]] : []]
  return (
    <div className="tabard-compared">
      {texts.map(([name, text]) => (
        <div key={name}>
          <Title headingLevel={level} size="md">{name}</Title>
          <p className="tabard-breaks">{text || 'Nothing'}</p>
        </div>
      ))}
    </div>
  )
}

interface MendProps { title: string; commands: string[]; blanks?: string[]; note?: string; level: 'h3' | 'h4' }

export function Mend({ title, commands, blanks = [], note, level }: MendProps) {
  return (
    <Stack hasGutter>
      <Title headingLevel={level} size="md">{title}</Title>
      {note && <p className="tabard-breaks">{sentence(note)}</p>}
      {commands.map((command, n) => <Command key={n} label={n === 0 ? 'Type' : 'Then type'} command={command} />)}
      {blanks.length > 0 && <p>Words in upper case are to be filled in: {blanks.join(', ')}.</p>}
    </Stack>
  )
}
