import { NavLink, useLocation } from 'react-router-dom'
import { Nav, NavItem, NavList, PageSidebar, PageSidebarBody } from '@patternfly/react-core'
import { Who } from './Who'

const pages = [
  { path: '/overview', name: 'Overview' },
  { path: '/operators', name: 'Operators' },
  { path: '/installed', name: 'Installed' },
  { path: '/workloads', name: 'Workloads' },
  { path: '/try', name: 'Try' },
]

export function Navigation() {
  const { pathname } = useLocation()
  return (
    <PageSidebar>
      <PageSidebarBody>
        <Nav aria-label="Pages">
          <NavList>
            {pages.map(({ path, name }) => (
              <NavItem key={path} isActive={pathname === path || pathname.startsWith(`${path}/`)}>
                <NavLink to={path}>{name}</NavLink>
              </NavItem>
            ))}
          </NavList>
        </Nav>
      </PageSidebarBody>
      {/* On a narrow screen the masthead has no room for it. */}
      <PageSidebarBody className="tabard-narrow"><section aria-label="Cluster and user"><Who /></section></PageSidebarBody>
    </PageSidebar>
  )
}
