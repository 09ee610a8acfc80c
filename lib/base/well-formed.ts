const PART =
  /<!--(?:(?!--)[\s\S])*-->|<\?[\s\S]*?\?>|<!\[CDATA\[[\s\S]*?\]\]>|<\/([\w:.-]+)\s*>|<([\w:.-]+)((?:\s+[\w:.-]+\s*=\s*(?:"[^"<]*"|'[^'<]*'))*)\s*(\/?)>|[^<]+/y;

const LONE_AMPERSAND = /&(?!(?:amp|lt|gt|quot|apos|#\d+|#x[\da-f]+);)/i;

/** Whether a text without a document type is well-formed XML with one root, and declares the prefixes that it uses. */
export function isWellFormedXml(text: string): boolean {
  const open: string[] = [];
  let roots = 0;
  PART.lastIndex = 0;
  while (PART.lastIndex < text.length) {
    const [part = '', end, start, attributes = '', isEmpty] = PART.exec(text) ?? [];
    if (part === '') return false;
    const isText = !part.startsWith('<');
    if (isText && open.length === 0 && part.trim() !== '') return false;
    if ((isText || start !== undefined) && LONE_AMPERSAND.test(part)) return false;
    if (end !== undefined && open.pop() !== end) return false;
    if (start === undefined) continue;
    if (open.length === 0 && ++roots > 1) return false;
    if (hasTwice(attributes)) return false;
    if (isEmpty === '') open.push(start);
  }
  return open.length === 0 && roots === 1 && prefixesOf(text).every((one) => text.includes(`xmlns:${one}=`));
}

function hasTwice(attributes: string): boolean {
  const names = attributes.match(/[\w:.-]+(?=\s*=\s*["'])/g) ?? [];
  return new Set(names).size < names.length;
}

/** The prefixes of elements and attributes. */
function prefixesOf(text: string): readonly string[] {
  const bare = text.replace(/<!--[\s\S]*?-->|<!\[CDATA\[[\s\S]*?\]\]>/g, '');
  const found = Array.from(
    bare.matchAll(/<\/?([\w.-]+):|\s([\w.-]+):[\w.-]+\s*=\s*["']/g),
    ([, one, other]) => one ?? other,
  );
  return found.filter((one) => one !== undefined && one !== 'xml' && one !== 'xmlns') as string[];
}
