// Writes the weights of collations, one line each, for collation_tables.py.
package main

import (
	"bufio"
	"fmt"
	"os"
	"unicode/utf8"

	"vitess.io/vitess/go/mysql/collations"
	"vitess.io/vitess/go/mysql/collations/colldata"
)

func main() {
	env := collations.NewEnvironment("8.0.40")
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	for _, c := range colldata.All(env) {
		if _, ok := c.(*colldata.Collation_8bit_simple_ci); ok {
			fmt.Fprintf(out, "8bit %s ", c.Name())
			for b := 0; b < 256; b++ {
				fmt.Fprintf(out, "%x", c.WeightString(nil, []byte{byte(b)}, 0))
			}
			fmt.Fprintln(out)
		}
	}
	for _, name := range []string{"utf8mb4_general_ci", "utf8mb3_general_ci", "utf8mb4_unicode_ci", "utf8mb3_unicode_ci", "utf8mb4_unicode_520_ci", "utf8mb4_0900_ai_ci", "utf8mb4_0900_as_ci", "utf8mb4_0900_as_cs"} {
		id, ok := env.LookupID(name)
		if !ok {
			panic(name)
		}
		c := colldata.Lookup(id)
		for r := rune(0); r <= 0x10ffff; r++ {
			if r >= 0xd800 && r < 0xe000 {
				continue
			}
			buf := make([]byte, 4)
			n := utf8.EncodeRune(buf, r)
			fmt.Fprintf(out, "%s %x %x\n", name, r, c.WeightString(nil, buf[:n], 0))
		}
		for _, s := range []string{"\u0418\u0306", "\u0fb2\u0f71", "\u0e40\u0e01", "\u0627\u0653", "ch", "\u09c7\u09be", "\u1100\u1161"} {
			fmt.Fprintf(out, "pair-%s %x %x\n", name, s, c.WeightString(nil, []byte(s), 0))
		}
	}
}
