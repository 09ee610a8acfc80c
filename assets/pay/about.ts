// The page at the payment method's identifier, which people see only if they open it: in their language and the brand.
import { loadWords } from '../words/words.ts';

void loadWords('pay');
