// A page that has to stay small: HTML without blanks, and of the shared parts of style only what the page uses.

/** HTML without blanks between its lines, quotes that it does not need, and `type="button"`: no form may have one. */
export function smallHtml(html: string): string {
  return html
    .replace(/>\n\s*</g, '><')
    .replace(/\n\s*/g, '\n')
    .replaceAll(' type="button"', '')
    .replace(/="([\w-]+)"(?=[\s>])/g, '=$1');
}

/** The parts of a page's style. `page` is its HTML and the scripts that make elements. */
export interface StyleParts {
  readonly tokens: string;
  readonly parts: string;
  readonly own: string;
  readonly page: string;
}

/** Tokens, the parts that the page uses, and its own rules, without comments and blanks. */
export function pageStyle({ tokens, parts, own, page }: StyleParts): string {
  const made = madeIn(page);
  const rules = [...rulesOf(parts).flatMap((rule) => usedOf(rule, made)), ...rulesOf(own)].map(minify).join('');
  const used = rulesOf(tokens)
    .map(minify)
    .join('')
    .replace(/(--[\w-]+):[^;}]*;?/g, (token, name) => (rules.includes(`var(${name})`) ? token : ''))
    .replaceAll(';}', '}');
  const moves = rules.match(/animation:(\w+)/g)?.map((one) => one.slice(10)) ?? [];
  return (
    used + rules.replace(/@keyframes (\w+)\{(?:[^{}]|\{[^{}]*\})*\}/g, (all, name) => (moves.includes(name) ? all : ''))
  );
}

/** The elements that a page has or makes, with their classes, and the classes that scripts give to any of them. */
interface Made {
  readonly elements: readonly { readonly tag: string; readonly classes: readonly string[] }[];
  readonly given: readonly string[];
  readonly text: string;
}

function madeIn(page: string): Made {
  const elements = [
    ...Array.from(page.matchAll(/<([a-z]\w*)([^>]*)/g), ([, tag = '', rest = '']) => {
      return { tag, classes: wordsOf(/class="([^"]*)"/.exec(rest)?.[1]) };
    }),
    ...Array.from(page.matchAll(/\bmake\(\s*'(\w+)'(?:,\s*'([^']*)')?/g), ([, tag = '', classes]) => {
      return { tag, classes: wordsOf(classes) };
    }),
    ...Array.from(page.matchAll(/createElement(?:NS)?\([^)]*'(\w+)'\)/g), ([, tag = '']) => ({ tag, classes: [] })),
    ...Array.from(page.matchAll(/\bmakeButton\([^']*'[^']*', '([^']*)'/g), ([, classes]) => {
      return { tag: 'button', classes: wordsOf(classes) };
    }),
  ];
  const given = Array.from(
    page.matchAll(/class(?:Name|List)\b([^\n]*)/g),
    ([, rest = '']) => rest.match(/\w+(?=')/g) ?? [],
  );
  return { elements: [...elements, { tag: 'body', classes: [] }], given: given.flat(), text: page };
}

function wordsOf(classes = ''): string[] {
  return classes.split(' ').filter((name) => name !== '');
}

/** Rules at the top of a style sheet, with the text before each brace. */
function rulesOf(css: string): string[] {
  const bare = css.replace(/\/\*[\s\S]*?\*\//g, '');
  const rules: string[] = [];
  let [start, depth] = [0, 0];
  for (let i = 0; i < bare.length; i++) {
    if (bare[i] === '{') depth++;
    if (bare[i] !== '}' || --depth > 0) continue;
    rules.push(bare.slice(start, i + 1).trim());
    start = i + 1;
  }
  return rules;
}

/** The rule with the selectors that can match; none where no selector can. */
function usedOf(rule: string, made: Made): string[] {
  const open = rule.indexOf('{');
  const [head, body] = [rule.slice(0, open).trim(), rule.slice(open)];
  if (head.startsWith('@media')) {
    const inner = rulesOf(body.slice(1, -1)).flatMap((one) => usedOf(one, made));
    return inner.length === 0 ? [] : [`${head}{${inner.join('')}}`];
  }
  if (head.startsWith('@')) return [rule];
  const selectors = head.split(',').filter((selector) => isUsed(selector, made));
  return selectors.length === 0 ? [] : [selectors.map((one) => one.trim()).join(',') + body];
}

/** Whether each part of a selector fits some element; that one is inside the other is not asked. */
function isUsed(selector: string, { elements, given, text }: Made): boolean {
  const attributes = Array.from(selector.matchAll(/(?<!\()\[([\w-]+)/g), ([, name = '']) => name);
  if (!attributes.every((name) => text.includes(name))) return false;
  const plain = selector.replace(/\[[^\]]*\]|:not\([^)]*\)|::?[\w-]+/g, '');
  return plain.split(/[\s>]+/).every((part) => {
    const classes = Array.from(part.matchAll(/\.([\w-]+)/g), ([, name = '']) => name);
    const tag = /^[a-z]\w*/.exec(part)?.[0];
    return elements.some(
      (one) =>
        (tag === undefined || one.tag === tag) &&
        classes.every((name) => one.classes.includes(name) || given.includes(name)),
    );
  });
}

/** A style sheet without comments and blanks. */
export function minify(css: string): string {
  return css
    .replace(/\/\*[\s\S]*?\*\//g, '')
    .replace(/\s+/g, ' ')
    .replace(/ ?([{};,>]) ?/g, '$1')
    .replace(/([{;][\w-]+): /g, '$1:')
    .replace(/;}/g, '}');
}
