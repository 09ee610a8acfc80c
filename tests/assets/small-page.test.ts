import { expect, test } from 'bun:test';
import { pageStyle, smallHtml } from '../../assets/small-page.ts';

const TOKENS = ':root {\n  --ink: light-dark(#000, #fff);\n  --unused: 1px;\n}\n';
const PARTS = `/* Parts. */
* { box-sizing: border-box; }
.card { padding: 1px; color: var(--ink); }
.card > :last-child { margin: 0; }
.row, .card p { gap: 1px; }
input:not([type="radio"]), select { width: 1px; }
.spinner { animation: turn 1s linear infinite; }
@keyframes turn { to { rotate: 1turn; } }
@keyframes idle { to { rotate: 2turn; } }
@media (max-width: 1rem) { .card { padding: 0; } .row { gap: 0; } }
@media (max-width: 2rem) { .row { gap: 2px; } }
`;
const style = (page: string) => pageStyle({ tokens: TOKENS, parts: PARTS, own: '.own-name { top: 0; }', page });

test('a page gets of the shared style what it uses, and all that is its own', () => {
  expect(style('<section class="card wide"><p>Text</p></section>')).toBe(
    [
      ':root{--ink:light-dark(#000,#fff)}*{box-sizing:border-box}.card{padding:1px;color:var(--ink)}',
      '.card>:last-child{margin:0}.card p{gap:1px}@media (max-width: 1rem){.card{padding:0}}.own-name{top:0}',
    ].join(''),
  );
});

test('what its scripts make counts, and an animation comes with the rule that runs it', () => {
  const made = style("<main></main> make('input', 'row'); spin.className = 'spinner';");
  expect(made).toContain('.row{gap:1px}input:not([type="radio"]){width:1px}');
  expect(made).toContain('@keyframes turn{');
  expect(made).not.toContain('idle');
  expect(made).toContain('@media (max-width: 2rem){.row{gap:2px}}');
});

test('HTML loses blanks between lines, needless quotes and types of buttons, and nothing else', () => {
  const html =
    '<p class="a b" id="c">\n  Two  words\n  and <b>three</b> more\n</p>\n<button id="d" type="button">Go</button>\n';
  expect(smallHtml(html)).toBe(
    '<p class="a b" id=c>\nTwo  words\nand <b>three</b> more\n</p><button id=d>Go</button>\n',
  );
  expect(smallHtml('<circle r="22"/><path d="M1 2"/>')).toBe('<circle r="22"/><path d="M1 2"/>');
});
