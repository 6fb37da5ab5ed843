// The pages of docs, and the menu: the sections and links of docs/index.md, in its order.
import { readFileSync, readdirSync } from 'node:fs'
import path from 'node:path'

// menu is the sidebar. It fails for a page that docs/index.md does not link: readers could find it
// by its address only.
export function menu(docs) {
  const sections = []
  for (const line of readFileSync(path.join(docs, 'index.md'), 'utf8').split('\n')) {
    const heading = /^## (.+)$/.exec(line)
    if (heading) sections.push({ text: heading[1], items: [] })
    for (const [, text, target] of line.matchAll(/\[([^\]]+)\]\(([^)#]+\.md)(?:#[^)]*)?\)/g)) {
      if (sections.length === 0) throw new Error(`docs/index.md: the link to ${target} is before the first section, expected a heading such as "## Reference" above it`)
      sections.at(-1).items.push({ text, link: '/' + target })
    }
  }
  const linked = new Set(sections.flatMap((s) => s.items.map((i) => i.link.slice(1))))
  const lost = pages(docs).filter((page) => page !== 'index.md' && !linked.has(page))
  if (lost.length > 0) {
    throw new Error(`docs/index.md has no link to ${lost.join(', ')}: add one to a list there`)
  }
  return sections
}

// pages are the paths of all pages, from docs, with slashes.
function pages(docs) {
  return readdirSync(docs, { recursive: true })
    .map((name) => name.split(path.sep).join('/'))
    .filter((name) => name.endsWith('.md'))
    .sort()
}
