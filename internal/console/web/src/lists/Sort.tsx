import { useState } from 'react'
import { MenuToggle, Select, SelectList, SelectOption } from '@patternfly/react-core'
import SortAmountDownIcon from '@patternfly/react-icons/dist/esm/icons/sort-amount-down-icon'
import type { Query } from './query'

interface Props { query: Query; orders: Record<string, string>; usual: string }

// Sort has all orders: the table's own buttons are not there on a narrow screen, and cards have none.
export function Sort({ query, orders, usual }: Props) {
  const [isOpen, setOpen] = useState(false)
  const order = query.get('sort') || usual
  return (
    <Select
      isOpen={isOpen}
      onOpenChange={setOpen}
      shouldFocusFirstItemOnOpen
      shouldFocusToggleOnSelect
      selected={order}
      onSelect={(_event, value) => {
        query.set('sort', value === usual ? '' : String(value))
        setOpen(false)
      }}
      popperProps={{ appendTo: 'inline' }}
      toggle={(ref) => (
        <MenuToggle ref={ref} isExpanded={isOpen} onClick={() => setOpen(!isOpen)} icon={<SortAmountDownIcon />}>
          <span className="pf-v6-screen-reader">Order: </span>{orders[order] ?? order}
        </MenuToggle>
      )}
    >
      <SelectList aria-label="Order">
        {Object.entries(orders).map(([value, name]) => <SelectOption key={value} value={value}>{name}</SelectOption>)}
      </SelectList>
    </Select>
  )
}
