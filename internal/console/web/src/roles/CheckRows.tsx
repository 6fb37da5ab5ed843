import { ExpandableSection, Label, List, ListItem, Title } from '@patternfly/react-core'
import CheckCircleIcon from '@patternfly/react-icons/dist/esm/icons/check-circle-icon'
import ExclamationCircleIcon from '@patternfly/react-icons/dist/esm/icons/exclamation-circle-icon'
import QuestionCircleIcon from '@patternfly/react-icons/dist/esm/icons/question-circle-icon'
import type { CheckRow } from '../api/types'
import { sentence } from '../states/words'
import { isOpen, resultInWords } from './words'

interface Props { title: string; rows: CheckRow[]; level: 'h3' | 'h4' }

// CheckRows has what is not good first, and each row opens to what decides it.
export function CheckRows({ title, rows, level }: Props) {
  if (rows.length === 0) return null
  const badFirst = [...rows].sort((a, b) => Number(a.good) - Number(b.good))
  const good = rows.filter((row) => row.good).length
  return (
    <div>
      <Title headingLevel={level} size="md">{title}: {good} of {rows.length}</Title>
      <List isPlain isBordered aria-label={title}>
        {badFirst.map((row, n) => <ListItem key={n}><OneRow row={row} /></ListItem>)}
      </List>
    </div>
  )
}

function OneRow({ row }: { row: CheckRow }) {
  const what = <><Result row={row} /> <span className="tabard-breaks">{row.what}</span></>
  if (!row.why) return <div className="tabard-row">{what}</div>
  return (
    <ExpandableSection className="tabard-opens" toggleContent={<span className="tabard-start">{what}</span>}>
      <p className="tabard-breaks">{sentence(row.why)}</p>
    </ExpandableSection>
  )
}

function Result({ row }: { row: CheckRow }) {
  const text = resultInWords(row.result)
  if (row.good) return <Label isCompact color="green" icon={<CheckCircleIcon />}>{text}</Label>
  if (isOpen(row.result)) return <Label isCompact color="orange" icon={<QuestionCircleIcon />}>{text}</Label>
  return <Label isCompact color="red" icon={<ExclamationCircleIcon />}>{text}</Label>
}
