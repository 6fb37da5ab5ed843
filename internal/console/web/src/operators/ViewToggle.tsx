import { ToggleGroup, ToggleGroupItem } from '@patternfly/react-core'
import type { Query } from '../lists/query'
import { hasCards } from './query'

export function ViewToggle({ query }: { query: Query }) {
  const isCards = hasCards(query)
  return (
    <ToggleGroup aria-label="View of the list">
      <ToggleGroupItem text="Table" isSelected={!isCards} onChange={() => query.set('view', '')} />
      <ToggleGroupItem text="Cards" isSelected={isCards} onChange={() => query.set('view', 'cards')} />
    </ToggleGroup>
  )
}
