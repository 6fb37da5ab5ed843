// Markdown as GitHub shows it: the pages are written for both, and are not edited for the site.
import { readFileSync, statSync } from 'node:fs'
import path from 'node:path'
import { slug } from 'github-slugger'

// The tags that pages may have; all others, such as <NAME>, are text.
const tags = /^<(?:!--|\/?(?:br|details|summary|sub|sup|kbd)\s*\/?>)/

// like GitHub makes names of headings and links, and leaves text alone.
export const options = (root, repository) => ({
  anchor: { slugify: slug },
  attrs: { disable: true },
  theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
  config(md) {
    md.disable('emoji')
    md.linkify.set({ fuzzyLink: false, fuzzyEmail: false })
    md.linkify.add('//', null) // GitHub makes no link of it, as in an audience of Google Cloud
    md.core.ruler.before('normalize', 'front', (state) => front(state, root))
    md.core.ruler.push('picture', picture)
    md.core.ruler.push('outside', (state) => outside(state, root, repository))
    for (const rule of ['html_inline', 'html_block']) {
      md.renderer.rules[rule] = (tokens, i) => (tags.test(tokens[i].content) ? tokens[i].content : md.utils.escapeHtml(tokens[i].content))
    }
    md.renderer.rules.code_inline = (tokens, i) => inlineCode(tokens[i].content, md.utils.escapeHtml)
    // Vue would evaluate what is in two braces.
    const render = md.renderer.render
    md.renderer.render = (...all) => render.apply(md.renderer, all).replaceAll('{{', '&#123;&#123;')
  },
})

// inlineCode lets long names break where their parts end, and flags nowhere.
function inlineCode(content, escape) {
  const whole = /^-\S{1,30}$/.test(content) ? ' class="whole"' : ''
  return `<code${whole}>${escape(content).replace(/[./:_=,]+|(?<=[a-z])(?=[A-Z])/g, '$&<wbr>')}</code>`
}

// front begins the front page with the README's first sentence and its picture.
function front(state, root) {
  if (state.env.relativePath !== 'index.md') return
  const [, sentence, image] = /^# .*\n\n([^\n]+)\n\n(!\[[^\]]*\]\(docs\/images\/[^)]+\))\n/.exec(readFileSync(path.join(root, 'README.md'), 'utf8')) ?? []
  if (!image) throw new Error('README.md: expected a title, one line about Tabard, and a picture from docs/images at its beginning')
  state.src = state.src.replace(/^(# .*\n)/, `$1\n${sentence}\n\n${image.replace('(docs/', '(./')}\n`)
}

// picture marks paragraphs that are a picture, and lets the keyboard scroll them.
function picture({ tokens }) {
  tokens.forEach((token, i) => {
    if (token.type !== 'paragraph_open' || tokens[i + 1].children.some((child) => child.type !== 'image')) return
    token.attrSet('class', 'picture')
    token.attrSet('tabindex', '0')
  })
}

// outside has links that leave docs lead to the repository, if the file is there.
function outside(state, root, repository) {
  const links = state.tokens.flatMap((token) => token.children ?? []).filter((token) => token.type === 'link_open')
  for (const link of links) {
    const [, target, fragment] = /^([^#?]*)(.*)$/.exec(link.attrGet('href'))
    if (target === '' || /^[a-z]+:/.test(target)) continue
    const page = state.env.path
    const file = path.resolve(path.dirname(page), decodeURI(target))
    const inside = !path.relative(path.join(root, 'docs'), file).startsWith('..')
    if (inside && file.endsWith('.md')) continue
    const found = statSync(file, { throwIfNoEntry: false })
    const name = path.relative(root, file).split(path.sep).join('/')
    if (!found || name.startsWith('..')) {
      throw new Error(`${path.relative(root, page)}: the link ${target} leads to ${name}, which is not there`)
    }
    link.attrSet('href', `${repository}/${found.isDirectory() ? 'tree' : 'blob'}/main/${encodeURI(name)}${fragment}`)
  }
}
