// The page that every mail is, and its words as plain text.

/** A mail's content: the same words as plain text and as HTML. */
export interface CodeMessage {
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

/** Paragraphs and a link, as plain text and as HTML. */
export interface TextMail {
  readonly subject: string;
  /** The last one leads to the link. */
  readonly paragraphs: readonly string[];
  readonly link: string;
  readonly closing: string;
}

/** A mail without a code. */
export function textMail({ subject, paragraphs, link, closing }: TextMail): CodeMessage {
  return {
    subject,
    text: `${[...paragraphs, link, closing].join('\n\n')}\n`,
    html: page({ subject, opening: paragraphs.join(' '), link: '', pass: link, advice: closing }),
  };
}

/**
 * Styles are inline because some readers drop the sheet, which only adds the dark colours. `user-select: all` selects
 * the code as one token.
 */
export function page(words: Words): string {
  const subject = escapeHtml(words.subject);
  return `<!doctype html>
<html lang="en" dir="ltr">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="format-detection" content="telephone=no, date=no, address=no">
<title>${subject}</title>
<style>
:root { color-scheme: light dark; }
@media (prefers-color-scheme: dark) {
  .page { background: #111318 !important; color: #f2f3f5 !important; }
  .card { background: #1b1e25 !important; border-color: #30343d !important; }
  .code { background: #262a33 !important; color: #ffffff !important; }
  .advice { color: #a8adb8 !important; }
  a { color: #96a5ff !important; }
}
</style>
</head>
<body class="page" style="margin:0;padding:0;background:#f3f4f6;color:#1b1e25">
<table class="page" role="presentation" width="100%" cellpadding="0" cellspacing="0" style="background:#f3f4f6;color:#1b1e25;font:16px/1.5 system-ui,-apple-system,'Segoe UI',Roboto,sans-serif">
<tr><td align="center" style="padding:40px 16px">
<table class="card" role="presentation" width="100%" cellpadding="0" cellspacing="0" style="max-width:440px;background:#ffffff;border:1px solid #e2e4e9;border-radius:14px">
<tr><td style="padding:32px;text-align:center">
${words.code === undefined ? '' : heading(words.code)}<p style="margin:20px 0 0">${escapeHtml(words.opening)}</p>
${words.code === undefined ? linkOf(words) : ''}<p class="advice" style="margin:12px 0 0;color:#5b616e;font-size:14px">${escapeHtml(words.advice)}</p>
${words.code === undefined ? '' : linkOf(words)}</td></tr>
</table>
</td></tr>
</table>
</body>
</html>
`;
}

/** The words of a mail, as plain text. */
export interface Words {
  readonly subject: string;
  readonly code?: string;
  readonly opening: string;
  readonly advice: string;
  readonly link: string;
  readonly pass: string | undefined;
}

function heading(code: string): string {
  return `<h1 class="code" style="margin:0;padding:16px 0 16px 8px;border-radius:10px;background:#f3f4f6;color:#1b1e25;font:600 36px/1.2 ui-monospace,Menlo,Consolas,monospace;letter-spacing:8px;-webkit-user-select:all;user-select:all">${escapeHtml(code)}</h1>\n`;
}

/** The link is shown whole: a page without JavaScript asks for its end. */
function linkOf({ link, pass }: Words): string {
  if (pass === undefined) return '';
  const href = escapeHtml(pass);
  const words = link === '' ? '' : `${escapeHtml(link)}<br>`;
  return `<p class="advice" style="margin:12px 0 0;color:#5b616e;font-size:14px;overflow-wrap:anywhere">${words}<a href="${href}" style="color:#3146c8">${href}</a></p>\n`;
}

/** The text as HTML shows it. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`);
}
