// The page that every mail is, and its words as plain text: a brand line, the code, sentences, links, and support.
import { englishIn } from '../../client/catalogue.ts';

/** A mail's content: the same words as plain text and as HTML. */
export interface CodeMessage {
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

/** One part of a mail. A sentence is one paragraph, and a link has a line of its own: nothing is split. */
export type MailPart =
  | { readonly kind: 'code' | 'text' | 'quiet' | 'link'; readonly text: string }
  | { readonly kind: 'line' };

/** A mail before it is text and HTML. */
export interface MailContent {
  readonly subject: string;
  readonly brand: string;
  readonly language: string;
  readonly direction: 'ltr' | 'rtl';
  /** The colours of links, `#rrggbb`. */
  readonly colors: { readonly light: string; readonly dark: string };
  readonly parts: readonly MailPart[];
}

/** The words of a mail in the order of its page. */
export function mailText({ brand, parts }: Pick<MailContent, 'brand' | 'parts'>): string {
  const lines = parts.map((part) => (part.kind === 'line' ? '———' : part.text));
  return `${[brand, ...lines].join('\n\n')}\n`;
}

/** Colours of the dark theme, by class. */
const DARK = {
  page: 'background: #0c0f1a !important; color: #eef0fb !important;',
  card: 'background: #151a2b !important; border-color: #2b324b !important; color: #eef0fb !important;',
  code: 'background: #0c0f1a !important; color: #eef0fb !important;',
  quiet: 'color: #a6aecb !important;',
  line: 'border-color: #2b324b !important;',
} as const;

/** Word takes Times for a list that begins with a name that it does not know. */
const FONT = "'Segoe UI',system-ui,-apple-system,Roboto,sans-serif";
const MONO = 'Consolas,Menlo,ui-monospace,monospace';

/** Tables inherit no font in mail programs, and Word no line height without a unit. */
const TEXT = `color:#12162b;font-family:${FONT};font-size:15px;line-height:22px;mso-line-height-rule:exactly;overflow-wrap:anywhere`;
const TABLE = 'role="presentation" cellpadding="0" cellspacing="0"';

/** Outlook for Windows lays out by Word, which knows no `max-width`: a table around the card has it. */
const WIDE = `<!--[if mso]><table ${TABLE} width="560" align="center"><tr><td><![endif]-->`;
const WIDE_END = '<!--[if mso]></td></tr></table><![endif]-->';

/**
 * The page of a mail. Styles are inline because some readers drop the sheet, which only adds the dark colours: by the
 * person's setting, and by the mark of Outlook's own dark theme. Webmail drops `html`, so the card says the language,
 * too. `user-select: all` selects the code as one token.
 */
export function mailHtml({ subject, brand, language, direction, colors, parts }: MailContent): string {
  const align = direction === 'rtl' ? 'right' : 'left';
  const lang = escapeHtml(language);
  return `<!doctype html>
<html lang="${lang}" dir="${direction}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="supported-color-schemes" content="light dark">
<meta name="format-detection" content="telephone=no, date=no, address=no">
<title>${escapeHtml(subject)}</title>
<style>
:root { color-scheme: light dark; }
@media (prefers-color-scheme: dark) {
${darkRules('', colors.dark)}
}
${darkRules('[data-ogsc] ', colors.dark)}
</style>
</head>
<body class="page" style="margin:0;padding:0;background:#f5f6fa;color:#12162b">
<table class="page" ${TABLE} width="100%" bgcolor="#f5f6fa" style="background:#f5f6fa">
<tr><td align="center" style="padding:32px 16px">
${WIDE}
<table class="card" ${TABLE} width="100%" align="center" bgcolor="#ffffff" lang="${lang}" dir="${direction}" style="max-width:560px;background:#ffffff;border:1px solid #d5d9e6;border-radius:12px">
<tr><td class="card" align="${align}" style="padding:24px;border-radius:12px;${TEXT}">
<p dir="auto" style="margin:0;font-weight:600">${escapeHtml(brand)}</p>
${parts.map((part) => partHtml(part, colors.light)).join('\n')}
</td></tr>
</table>
${WIDE_END}
</td></tr>
</table>
</body>
</html>
`;
}

function darkRules(mark: string, link: string): string {
  const rules = Object.entries(DARK).map(([name, style]) => `${mark}.${name} { ${style} }`);
  return [...rules, `${mark}a { color: ${link} !important; }`].join('\n');
}

const QUIET = 'margin:16px 0 0;color:#525a75;font-size:13px';
const CODE = `margin:0;padding:12px 16px;border-radius:6px;background:#f5f6fa;color:#12162b;font:600 32px/40px ${MONO};letter-spacing:6px`;

function partHtml(part: MailPart, color: string): string {
  if (part.kind === 'line') return '<hr class="line" style="margin:24px 0 0;border:0;border-top:1px solid #d5d9e6">';
  const text = englishIn(escapeHtml(part.text))
    .map((one, i) => (i % 2 === 0 ? one : `<span lang="en" dir="ltr">${one}</span>`))
    .join('');
  if (part.kind === 'code')
    return `<table ${TABLE} width="100%" style="margin:16px 0 0"><tr><td class="code" dir="ltr" align="center" bgcolor="#f5f6fa" style="${CODE}"><p style="margin:0;-webkit-user-select:all;user-select:all">${text}</p></td></tr></table>`;
  if (part.kind === 'link')
    return `<p dir="ltr" style="margin:4px 0 0;font-size:13px"><a href="${text}" style="color:${color}">${text}</a></p>`;
  return part.kind === 'quiet'
    ? `<p class="quiet" style="${QUIET}">${text}</p>`
    : `<p style="margin:16px 0 0">${text}</p>`;
}

/** The text as HTML shows it. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`);
}
