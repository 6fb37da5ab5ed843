import { useEffect, useRef, type ReactNode } from 'react'
import { useLocation } from 'react-router-dom'
import { Flex, FlexItem, Title } from '@patternfly/react-core'

// The page where the console was opened: there, the reader starts at the top.
let firstPath: string | undefined = location.pathname

interface Props { title: string; children?: ReactNode }

// PageTitle is the only h1 of a page. After a change of page it has the focus, so that the keyboard
// and screen readers go on from there.
export function PageTitle({ title, children }: Props) {
  const place = useRef<HTMLDivElement>(null)
  const { pathname } = useLocation()
  useEffect(() => {
    document.title = `${title} · Tabard`
  }, [title])
  useEffect(() => {
    if (pathname === firstPath) return
    firstPath = undefined
    place.current?.querySelector('h1')?.focus()
  }, [pathname])
  return (
    <Flex justifyContent={{ default: 'justifyContentSpaceBetween' }} alignItems={{ default: 'alignItemsFlexStart' }}>
      <FlexItem className="tabard-shrinks">
        <div ref={place}><Title headingLevel="h1" size="2xl" tabIndex={-1} className="tabard-breaks">{title}</Title></div>
      </FlexItem>
      {children}
    </Flex>
  )
}
