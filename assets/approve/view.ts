// The parts of the page. Only text is written, never HTML.
import { showOne } from '../wallet/view.ts';

const PARTS = ['loading', 'setup', 'review', 'done', 'problem'] as const;

/** Shows one part and moves keyboard and screen reader to its heading. */
export function showPart(part: (typeof PARTS)[number]): void {
  showOne(PARTS, part);
}
