import { Alert, ExpandableSection, List, ListItem, Stack } from '@patternfly/react-core'
import type { Judgement } from '../api/types'
import { count, sentence } from '../states/words'
import { CheckRows } from './CheckRows'
import { verdictInWords, verdictVariant } from './words'

interface Props { judgement: Judgement; level?: 'h3' | 'h4' }

// JudgementView says whether a role is enough for a version, and by what.
export function JudgementView({ judgement, level = 'h3' }: Props) {
  const { verdict, why, csv, trust, permissions, warnings, broader, notSeen } = judgement
  const title = verdictInWords(verdict)
  return (
    <Stack hasGutter>
      <Alert variant={verdictVariant(verdict)} isInline component={level} title={title}>
        {plain(why) !== plain(title) && <p className="tabard-breaks">{sentence(why)}</p>}
        <p className="tabard-small tabard-breaks">Judged for {csv}.</p>
      </Alert>
      <Warnings warnings={warnings} level={level} />
      <CheckRows title="Trust" rows={trust} level={level} />
      <CheckRows title="Permissions" rows={permissions} level={level} />
      <More title={`Broader than asked: ${count(broader.length, 'thing', 'things')}`} rows={broader} />
      <More title={`Not seen: ${count(notSeen.length, 'kind of policy', 'kinds of policies')}`} rows={notSeen} />
    </Stack>
  )
}

// plain is a text as it is compared with another.
function plain(text: string): string {
  return sentence(text.trim()).replace(/\.$/, '')
}

export function Warnings({ warnings, level = 'h3' }: { warnings: string[]; level?: 'h2' | 'h3' | 'h4' }) {
  if (warnings.length === 0) return null
  return (
    <Alert variant="warning" isInline component={level} title={warnings.length === 1 ? 'A warning' : `${warnings.length} warnings`}>
      <List>{warnings.map((text) => <ListItem key={text} className="tabard-breaks">{sentence(text)}</ListItem>)}</List>
    </Alert>
  )
}

function More({ title, rows }: { title: string; rows: string[] }) {
  if (rows.length === 0) return null
  return (
    <ExpandableSection className="tabard-opens" toggleText={title}>
      <List>{rows.map((text) => <ListItem key={text} className="tabard-breaks">{text}</ListItem>)}</List>
    </ExpandableSection>
  )
}
