;; Loops over the codes of Parquet pages with SIMD; parquet-runs.ts has the first one in JavaScript. Where each thing is in
;; memory, and how long it may be, is in run-kernels.ts.
(module
  (memory (export "memory") 225 225)

  ;; Decodes $count values of $width bits, 1 to 25, from $at up to $end: runs of one value, and groups of eight that are
  ;; packed. Writes up to 32 bytes behind the last one, reads up to 16 behind $end. Answers the largest value; -1 where runs
  ;; are damaged or longer than values are.
  ;; $patterns, of the width: for four values each which bytes they lie in, and what brings them to bit 7.
  (func (export "runs") (param $at i32) (param $end i32) (param $width i32) (param $count i32) (param $to i32)
    (param $patterns i32) (result i32)
    (local $stop i32) (local $header i32) (local $shift i32) (local $byte i32) (local $length i32) (local $left i32)
    (local $value i32) (local $most i32) (local $from i32) (local $runEnd i32) (local $filled i32)
    (local $largest v128) (local $values v128) (local $others v128) (local $mask v128)
    (local $bytesA v128) (local $bytesB v128) (local $factorsA v128) (local $factorsB v128)
    (local.set $mask (i32x4.splat (i32.sub (i32.shl (i32.const 1) (local.get $width)) (i32.const 1))))
    (local.set $bytesA (v128.load (local.get $patterns)))
    (local.set $factorsA (v128.load offset=16 (local.get $patterns)))
    (local.set $bytesB (v128.load offset=32 (local.get $patterns)))
    (local.set $factorsB (v128.load offset=48 (local.get $patterns)))
    (local.set $stop (i32.add (local.get $to) (i32.shl (local.get $count) (i32.const 2))))
    (block $damaged
      (block $done
        (loop $nextRun
          (br_if $done (i32.ge_u (local.get $to) (local.get $stop)))
          (local.set $header (i32.const 0))
          (local.set $shift (i32.const 0))
          (loop $nextByte
            (br_if $damaged (i32.ge_u (local.get $at) (local.get $end)))
            (local.set $byte (i32.load8_u (local.get $at)))
            (local.set $at (i32.add (local.get $at) (i32.const 1)))
            (local.set $header
              (i32.or (local.get $header)
                (i32.shl (i32.and (local.get $byte) (i32.const 127)) (local.get $shift))))
            (local.set $shift (i32.add (local.get $shift) (i32.const 7)))
            (br_if $damaged (i32.gt_u (local.get $shift) (i32.const 28)))
            (br_if $nextByte (i32.ge_u (local.get $byte) (i32.const 128))))
          (local.set $length (i32.shr_u (local.get $header) (i32.const 1)))
          ;; 0, or too long for products of 32 bits
          (br_if $damaged (i32.gt_u (i32.sub (local.get $length) (i32.const 1)) (i32.const 1048575)))
          (local.set $left (i32.shr_u (i32.sub (local.get $stop) (local.get $to)) (i32.const 2)))
          (if (i32.and (local.get $header) (i32.const 1))
            (then
              (local.set $filled (i32.shl (local.get $length) (i32.const 3)))
              (local.set $from (local.get $at))
              (local.set $runEnd
                (i32.add (local.get $to) (i32.shl (local.get $filled) (i32.const 2))))
              ;; the last group need not be whole, nor need its bytes be there
              (if (i32.gt_u (local.get $filled) (local.get $left))
                (then
                  (local.set $runEnd (local.get $stop))
                  (if (i32.lt_u (i32.sub (local.get $filled) (local.get $left)) (i32.const 8))
                    (then (local.set $filled (local.get $left))))))
              (br_if $damaged
                (i32.gt_u
                  (i32.add (local.get $at)
                    (i32.shr_u (i32.add (i32.mul (local.get $filled) (local.get $width)) (i32.const 7)) (i32.const 3)))
                  (local.get $end)))
              (block $unpacked
                (loop $nextGroup
                  (br_if $unpacked (i32.ge_u (local.get $to) (local.get $runEnd)))
                  (local.set $values
                    (v128.and (local.get $mask)
                      (i32x4.shr_u
                        (i32x4.mul (local.get $factorsA)
                          (i8x16.swizzle (v128.load (local.get $from)) (local.get $bytesA)))
                        (i32.const 7))))
                  (v128.store (local.get $to) (local.get $values))
                  (local.set $others
                    (v128.and (local.get $mask)
                      (i32x4.shr_u
                        (i32x4.mul (local.get $factorsB)
                          (i8x16.swizzle
                            (v128.load (i32.add (local.get $from) (i32.shr_u (local.get $width) (i32.const 1))))
                            (local.get $bytesB)))
                        (i32.const 7))))
                  (v128.store offset=16 (local.get $to) (local.get $others))
                  (local.set $from (i32.add (local.get $from) (local.get $width)))
                  (local.set $to (i32.add (local.get $to) (i32.const 32)))
                  (if (i32.le_u (local.get $to) (local.get $runEnd))
                    (then
                      (local.set $largest
                        (i32x4.max_u (local.get $largest)
                          (i32x4.max_u (local.get $values) (local.get $others))))
                      (br $nextGroup)))
                  (local.set $to (i32.sub (local.get $to) (i32.const 32)))
                  (loop $nextValue
                    (local.set $value (i32.load (local.get $to)))
                    (if (i32.gt_u (local.get $value) (local.get $most))
                      (then (local.set $most (local.get $value))))
                    (local.set $to (i32.add (local.get $to) (i32.const 4)))
                    (br_if $nextValue (i32.lt_u (local.get $to) (local.get $runEnd))))))
              (local.set $at (i32.add (local.get $at) (i32.mul (local.get $length) (local.get $width))))
              (br $nextRun)))
          (br_if $damaged (i32.gt_u (local.get $length) (local.get $left)))
          (local.set $shift (i32.shr_u (i32.add (local.get $width) (i32.const 7)) (i32.const 3)))
          (local.set $value
            (i32.and (i32.load (local.get $at))
              (i32.shr_u (i32.const -1) (i32.sub (i32.const 32) (i32.shl (local.get $shift) (i32.const 3))))))
          (local.set $at (i32.add (local.get $at) (local.get $shift)))
          (br_if $damaged (i32.gt_u (local.get $at) (local.get $end)))
          (br_if $damaged (i32.shr_u (local.get $value) (local.get $width)))
          (if (i32.gt_u (local.get $value) (local.get $most)) (then (local.set $most (local.get $value))))
          (local.set $values (i32x4.splat (local.get $value)))
          (local.set $runEnd (i32.add (local.get $to) (i32.shl (local.get $length) (i32.const 2))))
          (loop $nextFour
            (v128.store (local.get $to) (local.get $values))
            (local.set $to (i32.add (local.get $to) (i32.const 16)))
            (br_if $nextFour (i32.lt_u (local.get $to) (local.get $runEnd))))
          (local.set $to (local.get $runEnd))
          (br $nextRun)))
      (local.set $largest (i32x4.max_u (local.get $largest) (i32x4.splat (local.get $most))))
      (local.set $largest
        (i32x4.max_u (local.get $largest)
          (i8x16.shuffle 8 9 10 11 12 13 14 15 0 1 2 3 4 5 6 7 (local.get $largest) (local.get $largest))))
      (return
        (select (i32x4.extract_lane 0 (local.get $largest)) (i32x4.extract_lane 1 (local.get $largest))
          (i32.gt_u (i32x4.extract_lane 0 (local.get $largest)) (i32x4.extract_lane 1 (local.get $largest))))))
    (i32.const -1))

  ;; Makes numbers × $factor + codes of $count numbers.
  (func (export "combine") (param $codes i32) (param $numbers i32) (param $factor i32) (param $count i32)
    (local $end i32)
    (local.set $end (i32.add (local.get $numbers) (i32.shl (i32.and (local.get $count) (i32.const -4)) (i32.const 2))))
    (block $done
      (loop $nextFour
        (br_if $done (i32.eq (local.get $numbers) (local.get $end)))
        (v128.store (local.get $numbers)
          (i32x4.add (v128.load (local.get $codes))
            (i32x4.mul (v128.load (local.get $numbers)) (i32x4.splat (local.get $factor)))))
        (local.set $numbers (i32.add (local.get $numbers) (i32.const 16)))
        (local.set $codes (i32.add (local.get $codes) (i32.const 16)))
        (br $nextFour)))
    (local.set $end (i32.add (local.get $end) (i32.shl (i32.and (local.get $count) (i32.const 3)) (i32.const 2))))
    (block $done
      (loop $next
        (br_if $done (i32.eq (local.get $numbers) (local.get $end)))
        (i32.store (local.get $numbers)
          (i32.add (i32.load (local.get $codes)) (i32.mul (i32.load (local.get $numbers)) (local.get $factor))))
        (local.set $numbers (i32.add (local.get $numbers) (i32.const 4)))
        (local.set $codes (i32.add (local.get $codes) (i32.const 4)))
        (br $next))))

  ;; Counts $count numbers, one at least, by counts that are 0. Lists each in the order of their first places, and something
  ;; behind the last one. Answers how many it has listed.
  (func (export "tally") (param $numbers i32) (param $count i32) (param $counts i32) (param $listed i32) (result i32)
    (local $end i32) (local $number i32) (local $place i32) (local $before i32) (local $at i32)
    (local.set $end (i32.add (local.get $numbers) (i32.shl (local.get $count) (i32.const 2))))
    (local.set $at (local.get $listed))
    (loop $next
      (local.set $number (i32.load (local.get $numbers)))
      (i32.store (local.get $at) (local.get $number))
      (local.set $place (i32.add (local.get $counts) (i32.shl (local.get $number) (i32.const 2))))
      (local.set $before (i32.load (local.get $place)))
      (i32.store (local.get $place) (i32.add (local.get $before) (i32.const 1)))
      (local.set $at (i32.add (local.get $at) (i32.shl (i32.eqz (local.get $before)) (i32.const 2))))
      (local.set $numbers (i32.add (local.get $numbers) (i32.const 4)))
      (br_if $next (i32.ne (local.get $numbers) (local.get $end))))
    (i32.shr_u (i32.sub (local.get $at) (local.get $listed)) (i32.const 2))))
